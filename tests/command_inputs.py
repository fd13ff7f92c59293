"""What commands read as JSON or YAML, one question of each kind: shared by the tests of hostile files and options."""

from __future__ import annotations

GROUP = {
    "assignor": "range",
    "topics": {"t": 3},
    "topic_ids": {"t": "AAAAAAAAAAAAAAAAAAAAAQ"},
    "racks": {"t": [["a"], ["b"], ["a"]]},
    "members": [
        {"id": "c", "topics": ["t"], "owned": [["t", 0]], "generation": 1, "instance_id": "i", "rack": "a"}
    ],
}
THREADS = {
    "assignor": "old-roundrobin",
    "topics": {"t": 3},
    "partition_order": [2, 1, 0],
    "members": [{"id": "c", "topics": ["t"], "streams": {"t": 2}}],
}
MEMBER = {
    "topics": ["t"],
    "assignor": "range",
    "instance_id": "i",
    "member_id": "m",
    "config": {"partition.assignment.strategy": "range", "session.timeout.ms": 45000},
}
SCRIPT = {
    "protocol": "classic",
    "assignor": "range",
    "topics": {"t": 3},
    "config": {"group.initial.rebalance.delay.ms": 0, "partition.assignment.strategy": "range, sticky"},
    "static": False,
    "records_per_s": 1,
    "until_ms": 100_000,
    "events": [
        {"at_ms": 0, "join": "a", **MEMBER},
        {"at_ms": 1, "restart": "a", "assignor": ["range"], "config": {"group.remote.assignor": "uniform"}},
        {"at_ms": 9000, "add_partitions": {"t": 1}},
        {"at_ms": 9000, "leave": "a", "operation": "DEFAULT"},
    ],
}
REMOTE = {**SCRIPT, "protocol": "consumer", "assignor": "uniform", "events": "+2"}
REPLAY = {
    "strategy": "round-robin",
    "client": "java",
    "configs": {
        "partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner",
        "linger.ms": 0,
        "client.rack": "a",
    },
    "brokers": [{"id": 0, "rack": "a"}],
    "topics": {"t": [{"id": 0, "leader": 0}]},
    "counters": {"t": 1},
    "draws": [1],
    "events": [
        {"op": "partition", "topic": "t", "key": "00"},
        {"op": "on_new_batch", "topic": "t", "prev": 0},
    ],
}
PLACING = {"strategy": "sticky@2.4", "topics": {"t": 3}, "seed": 1, "records": [["t", None, "00", 50, 0]]}
SCENARIO = {
    "strategy": "sticky@4.4",
    "config": {"linger.ms": 5, "client.rack": "a"},
    "sender": "each-append",
    "brokers": [{"id": 0, "rack": "a", "latency_ms": 1}],
    "partitions": [{"id": 0, "leader": 0}],
    "flush_ms": 100,
    "failed_requests": [0],
    "seed": 1,
    "records": [[0, "00", None, 100]] * 3,
}
MEMBERS = """
GROUP CONSUMER-ID HOST       CLIENT-ID  #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT
g     evilmod.X   /127.0.0.1 evilmod:X  2           -             evilmod.X:0,1
"""
MANIFEST = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "spec": {
        "replicas": 2,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}},
        "template": {
            "spec": {
                "terminationGracePeriodSeconds": 5,
                "containers": [{"readinessProbe": {"periodSeconds": 1}}],
            }
        },
    },
}
CLUSTER = {
    "brokers": [{"id": 0, "rack": "a"}, {"id": 1, "rack": "b"}],
    "topics": {"t": [{"id": 0, "leader": 0, "replicas": [0, 1], "isr": [0, 1]}]},
}
JSON = {
    "assign": [GROUP, THREADS],
    "batch": [SCENARIO],
    "group": [SCRIPT, REMOTE],
    "reassign": [CLUSTER],
    "rollout": [MANIFEST],
    "strategy": [REPLAY, PLACING],
}
