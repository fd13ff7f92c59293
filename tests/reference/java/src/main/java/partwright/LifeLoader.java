// Loads consumers of one version of Kafka, with all of their waiting in `LifeTurns`: classes are read as they are, and their waits renamed.
package partwright;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * A consumer's threads wait in `Object.wait`, in futures, in monitors, which take no clock. So that one thread runs at a time, under a clock
 * of ours, these calls go to `LifeTurns` and `LifeMonitors` in the classes of `org.apache.kafka.clients.consumer.internals`: entries into monitors, `wait`,
 * `notify`, `Thread.start` and `join`; and locks, futures and latches are made of classes of ours. What a class does is untouched. The
 * random part of a backoff is drawn by `LifeTurns`, too.
 */
final class LifeLoader extends URLClassLoader {
    private static final String TURNS = "partwright/LifeTurns";
    private static final String MONITORS = "partwright/LifeMonitors";
    private static final String RANDOM = "java/util/concurrent/ThreadLocalRandom";
    private static final String REWRITTEN = "org.apache.kafka.clients.consumer.internals.";
    private static final String DRAWING = ".ExponentialBackoff";
    private static final List<String> OURS = List.of(
            "org.apache.kafka.",
            "partwright.LifeClient",
            "partwright.LifeFields",
            "partwright.LifeMember",
            "partwright.LifeNetwork",
            "partwright.LifeTime");
    private static final Map<String, String> MADE = Map.of(
            "java/util/concurrent/locks/ReentrantLock", "partwright/LifeLock",
            "java/util/concurrent/CompletableFuture", "partwright/LifeFuture",
            "java/util/concurrent/CountDownLatch", "partwright/LifeLatch");
    private static final Map<String, String> CALLS = Map.of(
            "wait()V", "await",
            "wait(J)V", "await",
            "notify()V", "wakeOne",
            "notifyAll()V", "wakeAll");

    private final Constructor<?> constructor;

    /** Of the client that the class path has, or of the jars of a folder. */
    LifeLoader(String... folders) throws IOException, ReflectiveOperationException {
        super(urls(folders), LifeLoader.class.getClassLoader());
        constructor = loadClass("partwright.LifeMember").getConstructors()[0];
    }

    private static URL[] urls(String... folders) throws IOException {
        List<URL> found = new ArrayList<>();
        for (String folder : folders) {
            try (Stream<Path> jars = Files.list(Path.of(folder))) {
                for (Path jar : jars.sorted().toList()) {
                    found.add(jar.toUri().toURL());
                }
            }
        }
        for (String entry : System.getProperty("java.class.path").split(System.getProperty("path.separator"))) {
            Path path = Path.of(entry);
            if (found.isEmpty() || folders.length == 0 || Files.isDirectory(path)) {
                found.add(path.toUri().toURL());
            }
        }
        return found.toArray(URL[]::new);
    }

    /** A consumer of the group. */
    LifeConsumer consumer(
            String name,
            LifeTurns turns,
            LifeConsumer.Broker broker,
            BooleanSupplier yields,
            LifeConsumer.Diary diary,
            Map<String, Object> config,
            JsonNode told) {
        try {
            return (LifeConsumer)
                    constructor.newInstance(name, Coordinator.GROUP, turns, broker, yields, diary, config, told);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (OURS.stream().noneMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null) {
                loaded = name.startsWith(REWRITTEN) || name.endsWith(DRAWING) ? rewritten(name) : findClass(name);
            }
            return loaded;
        }
    }

    private Class<?> rewritten(String name) throws ClassNotFoundException {
        URL found = findResource(name.replace('.', '/') + ".class");
        if (found == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = found.openStream()) {
            ClassReader reader = new ClassReader(in);
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            reader.accept(new Rewriting(writer), 0);
            byte[] made = writer.toByteArray();
            return defineClass(name, made, 0, made.length);
        } catch (IOException failed) {
            throw new ClassNotFoundException(name, failed);
        }
    }

    /** A class. Synchronized methods, and what threads run, get another name, and a method around them that has theirs. */
    private static final class Rewriting extends ClassVisitor {
        private String name;
        private boolean isThread;

        Rewriting(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visit(int version, int access, String name, String of, String parent, String[] interfaces) {
            this.name = name;
            isThread = parent.endsWith("Thread");
            super.visit(version, access, name, of, parent, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String method, String type, String of, String[] thrown) {
            boolean runs = isThread && method.equals("run") && type.equals("()V");
            if (!Modifier.isSynchronized(access) && !runs) {
                return new Waits(super.visitMethod(access, method, type, of, thrown));
            }
            if (Modifier.isStatic(access)) {
                throw new IllegalStateException("no class has a monitor of its own: " + name + "." + method);
            }
            String inner = method + "$body";
            around(super.visitMethod(access & ~Opcodes.ACC_SYNCHRONIZED, method, type, of, thrown), inner, type, runs);
            int kept = access & ~(Opcodes.ACC_SYNCHRONIZED | Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED | Opcodes.ACC_BRIDGE);
            return new Waits(super.visitMethod(kept | Opcodes.ACC_PRIVATE, inner, type, of, thrown));
        }

        /** Calls the body between an entry and an exit, which comes in any case. */
        private void around(MethodVisitor code, String inner, String type, boolean runs) {
            String owner = runs ? TURNS : MONITORS;
            String entry = runs ? "begin" : "enter";
            String exit = runs ? "end" : "exit";
            String given = runs ? "(Ljava/lang/Thread;)V" : "(Ljava/lang/Object;)V";
            Label begin = new Label();
            Label end = new Label();
            code.visitCode();
            code.visitTryCatchBlock(begin, end, end, null);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitMethodInsn(Opcodes.INVOKESTATIC, owner, entry, given, false);
            code.visitLabel(begin);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            List<Object> locals = new ArrayList<>(List.of(name));
            int place = 1;
            for (Type each : Type.getArgumentTypes(type)) {
                code.visitVarInsn(each.getOpcode(Opcodes.ILOAD), place);
                place += each.getSize();
                locals.add(frame(each));
            }
            code.visitMethodInsn(Opcodes.INVOKESPECIAL, name, inner, type, false);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitMethodInsn(Opcodes.INVOKESTATIC, owner, exit, given, false);
            code.visitInsn(Type.getReturnType(type).getOpcode(Opcodes.IRETURN));
            code.visitLabel(end);
            code.visitFrame(
                    Opcodes.F_FULL, locals.size(), locals.toArray(), 1, new Object[] {"java/lang/Throwable"});
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitMethodInsn(Opcodes.INVOKESTATIC, owner, exit, given, false);
            code.visitInsn(Opcodes.ATHROW);
            code.visitMaxs(0, 0);
            code.visitEnd();
        }

        private static Object frame(Type type) {
            return switch (type.getSort()) {
                case Type.LONG -> Opcodes.LONG;
                case Type.DOUBLE -> Opcodes.DOUBLE;
                case Type.FLOAT -> Opcodes.FLOAT;
                case Type.OBJECT, Type.ARRAY -> type.getInternalName();
                default -> Opcodes.INTEGER;
            };
        }
    }

    /** A method. */
    private static final class Waits extends MethodVisitor {
        Waits(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitInsn(int code) {
            switch (code) {
                case Opcodes.MONITORENTER -> calls(MONITORS, "enter", "(Ljava/lang/Object;)V");
                case Opcodes.MONITOREXIT -> calls(MONITORS, "exit", "(Ljava/lang/Object;)V");
                default -> super.visitInsn(code);
            }
        }

        @Override
        public void visitTypeInsn(int code, String type) {
            super.visitTypeInsn(code, code == Opcodes.NEW ? MADE.getOrDefault(type, type) : type);
        }

        @Override
        public void visitMethodInsn(int code, String owner, String name, String type, boolean isInterface) {
            if (code == Opcodes.INVOKEVIRTUAL && CALLS.containsKey(name + type)) {
                calls(MONITORS, CALLS.get(name + type), type.replace("(", "(Ljava/lang/Object;"));
            } else if (code == Opcodes.INVOKEVIRTUAL && owner.endsWith("Thread")
                    && type.equals("()V") && (name.equals("start") || name.equals("join"))) {
                calls(TURNS, name, "(Ljava/lang/Thread;)V");
            } else if (name.equals("nextDouble") && owner.equals(RANDOM)) {
                calls(TURNS, "between", type.replace("(", "(L" + RANDOM + ";"));
            } else if (code == Opcodes.INVOKESPECIAL && name.equals("<init>")) {
                super.visitMethodInsn(code, MADE.getOrDefault(owner, owner), name, type, isInterface);
            } else {
                super.visitMethodInsn(code, owner, name, type, isInterface);
            }
        }

        private void calls(String owner, String name, String type) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, owner, name, type, false);
        }
    }
}
