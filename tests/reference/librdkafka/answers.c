/* Lets librdkafka's assignors answer: a group in JSON a line in, its assignment a line out, after a line of provenance.
 *
 * There is no public way to ask them. This file includes rdkafka_cgrp.c, because the cooperative adjustment and the
 * parser of a member's metadata are static there; nothing of either is changed. Each member's subscription is written
 * by the client's own function and read back by its own parser. A group is answered in a process of its own: where that
 * dies (the address sanitizer sees to it that freed memory is never read in silence) or goes on for ever, the answer
 * says so.
 *
 * A group with `timed` is assigned so often, and `seconds` says how long each time took.
 *
 * A member may come with the bytes that another client sends (`metadata`, in hexadecimal). Before 2.2 there were neither
 * racks nor generations. */
#include "rdkafka_cgrp.c"

#include "cJSON.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a processor's time, and one more for so many partitions: small groups take milliseconds, a few with thousands of
 * partitions half a minute under the address sanitizer. */
#define MOST_S 3
#define PARTITIONS_A_SECOND 40
/* One that has not ended by then may stand still, for another thread may have had a lock when the process was forked, or
 * the machine is busy. It is asked again, with twice the time. */
#define STILL_S 2
#define MOST_STILL_S 128
#define HAS_RACKS (RD_KAFKA_VERSION >= 0x02020000)

static const char *text_of(const cJSON *object, const char *field) {
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, field));
}

/* The topics that some member subscribes to, in the order given, with the sorted racks of each partition. */
static rd_kafka_metadata_t *metadata_of(const cJSON *group) {
        const cJSON *topics = cJSON_GetObjectItemCaseSensitive(group, "topics");
        size_t count        = (size_t)cJSON_GetArraySize(topics), at = 0;
        rd_kafka_metadata_topic_t *asked = rd_calloc(count + 1, sizeof(*asked));
        const cJSON *topic;

        cJSON_ArrayForEach(topic, topics) {
                asked[at].topic           = topic->string;
                asked[at++].partition_cnt = topic->valueint;
        }
#if !HAS_RACKS
        return rd_kafka_metadata_new_topic_mock(asked, count);
#else
        const cJSON *racks                = cJSON_GetObjectItemCaseSensitive(group, "racks");
        rd_kafka_metadata_t *metadata     = rd_kafka_metadata_new_topic_mock(asked, count, -1, 0);
        rd_kafka_metadata_internal_t *mdi = rd_kafka_metadata_get_internal(metadata);

        for (at = 0; at < count; at++) {
                const cJSON *partitions =
                    racks ? cJSON_GetObjectItemCaseSensitive(racks, asked[at].topic) : NULL;
                int number;
                for (number = 0; number < asked[at].partition_cnt; number++) {
                        const cJSON *replica, *replicas = cJSON_GetArrayItem(partitions, number);
                        rd_list_t *names = rd_list_new(0, NULL);
                        cJSON_ArrayForEach(replica, replicas) {
                                if (cJSON_IsString(replica))
                                        rd_list_add(names, rd_strdup(replica->valuestring));
                        }
                        rd_list_deduplicate(&names, rd_strcmp2);
                        mdi->topics[at].partitions[number].racks_cnt = (size_t)rd_list_cnt(names);
                        mdi->topics[at].partitions[number].racks     = (char **)names->rl_elems;
                }
        }
        return metadata;
#endif
}

/* Bytes that are given in hexadecimal. */
static rd_kafkap_bytes_t *bytes_of(const char *digits) {
        size_t length = strlen(digits) / 2, at;
        char *bytes   = rd_malloc(length + 1);
        for (at = 0; at < length; at++) {
                unsigned int byte;
                if (sscanf(digits + 2 * at, "%2x", &byte) != 1)
                        abort();
                bytes[at] = (char)byte;
        }
        return rd_kafkap_bytes_new(bytes, (int32_t)length);
}

/* What a member of this very client sends. */
static rd_kafkap_bytes_t *metadata_sent(rd_kafka_t *rk, const rd_kafka_assignor_t *rkas, const cJSON *given) {
        rd_list_t topics;
        rd_kafka_topic_partition_list_t *owned = NULL;
        const cJSON *each, *claims = cJSON_GetObjectItemCaseSensitive(given, "owned");

        rd_list_init(&topics, 0, NULL);
        cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(given, "topics"))
                rd_list_add(&topics, rd_kafka_topic_info_new(each->valuestring, -1));
        if (claims) {
                owned = rd_kafka_topic_partition_list_new(0);
                cJSON_ArrayForEach(each, claims)
                        rd_kafka_topic_partition_list_add(owned, cJSON_GetArrayItem(each, 0)->valuestring,
                                                          cJSON_GetArrayItem(each, 1)->valueint);
        }
#if !HAS_RACKS
        return rd_kafka_consumer_protocol_member_metadata_new(&topics, NULL, 0, owned);
#else
        const cJSON *generation = cJSON_GetObjectItemCaseSensitive(given, "generation");
        const char *rack        = text_of(given, "rack");
        return rd_kafka_consumer_protocol_member_metadata_new(
            &topics, NULL, 0, owned,
            rkas->rkas_protocol == RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE && generation ? generation->valueint : -1,
            /* A client whose client.rack is not set sends its default, which is empty. */
            rack ? rd_kafkap_str_new(rack, -1) : rk->rk_conf.client_rack);
#endif
}

/* What the leader reads of a member; false where it leaves it out. */
static rd_bool_t read_member(rd_kafka_t *rk, const rd_kafka_assignor_t *rkas, const cJSON *given,
                             rd_kafka_group_member_t *rkgm) {
        const char *told            = text_of(given, "metadata");
        rd_kafkap_bytes_t *metadata = told ? bytes_of(told) : metadata_sent(rk, rkas, given);

        memset(rkgm, 0, sizeof(*rkgm));
        rkgm->rkgm_member_id         = rd_kafkap_str_new(text_of(given, "id"), -1);
        rkgm->rkgm_group_instance_id = rd_kafkap_str_new(text_of(given, "instance_id"), -1);
        rd_list_init(&rkgm->rkgm_eligible, 0, NULL);
        rkgm->rkgm_generation = -1;
        /* Older ones have to have a broker to complain of. */
        if (rd_kafka_group_MemberMetadata_consumer_read(rk->rk_cgrp->rkcg_coord, rkgm, metadata))
                return rd_false;
        rkgm->rkgm_assignment = rd_kafka_topic_partition_list_new(rkgm->rkgm_subscription->cnt);
        return rd_true;
}

/* The members that the leader reads, made anew. */
static rd_kafka_group_member_t *read_members(rd_kafka_t *rk, const rd_kafka_assignor_t *rkas, const cJSON *members,
                                             int *count) {
        rd_kafka_group_member_t *read = rd_calloc((size_t)cJSON_GetArraySize(members) + 1, sizeof(*read));
        const cJSON *given;

        *count = 0;
        cJSON_ArrayForEach(given, members) *count += read_member(rk, rkas, given, &read[*count]) ? 1 : 0;
        return read;
}

static void assign(rd_kafka_t *rk, rd_kafka_assignor_t *rkas, rd_kafka_metadata_t *metadata,
                   rd_kafka_group_member_t *read, int count) {
        char errstr[512];

        if (rd_kafka_assignor_run(rk->rk_cgrp, rkas, metadata, read, count, errstr, sizeof(errstr)))
                abort();
        if (rkas->rkas_protocol == RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE)
                rd_kafka_cooperative_protocol_adjust_assignment(rk->rk_cgrp, read, count);
}

/* How long the client takes for a group; what it made is left to the end of the process. */
static void times(rd_kafka_t *rk, rd_kafka_assignor_t *rkas, const cJSON *group, int often, FILE *to) {
        int count;

        fprintf(to, "{\"seconds\": [");
        while (often--) {
                rd_kafka_group_member_t *read =
                    read_members(rk, rkas, cJSON_GetObjectItemCaseSensitive(group, "members"), &count);
                rd_kafka_metadata_t *metadata = metadata_of(group);
                rd_ts_t began                 = rd_clock();
                assign(rk, rkas, metadata, read, count);
                fprintf(to, "%.6f%s", (double)(rd_clock() - began) / 1e6, often ? ", " : "]}\n");
        }
        fflush(to);
}

static void answer(rd_kafka_t *rk, const cJSON *group, FILE *to) {
        const char *wire          = strchr(text_of(group, "assignor"), ':') + 1;
        char *name                = rd_strndup(wire, strcspn(wire, "@"));
        rd_kafka_assignor_t *rkas = rd_kafka_assignor_find(rk, name);
        const cJSON *given, *timed = cJSON_GetObjectItemCaseSensitive(group, "timed");
        const cJSON *members = cJSON_GetObjectItemCaseSensitive(group, "members");
        int count, i, j;

        if (timed) {
                times(rk, rkas, group, timed->valueint, to);
                return;
        }
        rd_kafka_group_member_t *read = read_members(rk, rkas, members, &count);
        assign(rk, rkas, metadata_of(group), read, count);

        cJSON *lists = cJSON_CreateObject();
        cJSON_ArrayForEach(given, members) {
                cJSON *list = cJSON_AddArrayToObject(lists, text_of(given, "id"));
                for (i = 0; i < count; i++) {
                        if (strcmp(read[i].rkgm_member_id->str, text_of(given, "id")))
                                continue;
                        for (j = 0; j < read[i].rkgm_assignment->cnt; j++) {
                                cJSON *pair = cJSON_CreateArray();
                                cJSON_AddItemToArray(
                                    pair, cJSON_CreateString(read[i].rkgm_assignment->elems[j].topic));
                                cJSON_AddItemToArray(
                                    pair, cJSON_CreateNumber(read[i].rkgm_assignment->elems[j].partition));
                                cJSON_AddItemToArray(list, pair);
                        }
                }
        }
        fprintf(to, "{\"assignment\": %s}\n", cJSON_PrintUnformatted(lists));
        fflush(to);
}

/* A consumer that never connects. */
static rd_kafka_t *consumer(const char *strategy) {
        char errstr[512];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "group.id", "g", NULL, 0);
        rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
        rd_kafka_conf_set(conf, "partition.assignment.strategy", strategy, NULL, 0);
        rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, errstr, sizeof(errstr));
        if (!rk) {
                fprintf(stderr, "librdkafka made no consumer: %s\n", errstr);
                exit(1);
        }
        return rk;
}

/* For how long a group's process may work. */
static rlim_t most_s(const cJSON *group) {
        rlim_t partitions = 0;
        const cJSON *topic;

        cJSON_ArrayForEach(topic, cJSON_GetObjectItemCaseSensitive(group, "topics"))
                partitions += (rlim_t)topic->valueint;
        return MOST_S + partitions / PARTITIONS_A_SECOND;
}

/* Lets a process of its own answer; false where that stood still for so long. */
static rd_bool_t say(rd_kafka_t *rk, const cJSON *group, unsigned still_s) {
        int ends[2], status = 0;
        char part[65536];
        ssize_t got;
        size_t all = 0;
        if (pipe(ends))
                abort();
        pid_t child = fork();
        if (child == 0) {
                FILE *to = fdopen(ends[1], "w");
                if (!freopen("/dev/null", "w", stderr))
                        abort();
                if (!cJSON_HasObjectItem(group, "timed")) {
                        setrlimit(RLIMIT_CPU, &(struct rlimit) {most_s(group), most_s(group) + 1});
                        alarm(still_s);
                }
                answer(rk, group, to);
                _exit(0);
        }
        close(ends[1]);
        while ((got = read(ends[0], part, sizeof(part))) > 0) {
                fwrite(part, 1, (size_t)got, stdout);
                all += (size_t)got;
        }
        close(ends[0]);
        waitpid(child, &status, 0);
        if (all)
                return rd_true;
        int killer = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        if (killer == SIGALRM && still_s < MOST_STILL_S)
                return rd_false;
        printf("{\"error\": \"%s\"}\n", killer == SIGXCPU || killer == SIGALRM ? "for ever" : "dies");
        return rd_true;
}

int main(void) {
        char *line  = NULL;
        size_t size = 0;
        rd_kafka_t *eager = consumer("range,roundrobin"), *cooperative = consumer("cooperative-sticky");

        /* The version's text also has what it was compiled with: 2.15.1-O0. */
        int version = rd_kafka_version();
        printf("{\"library\": \"librdkafka\", \"version\": \"%d.%d.%d\"}\n", version >> 24 & 0xff,
               version >> 16 & 0xff, version >> 8 & 0xff);
        while (getline(&line, &size, stdin) > 0) {
                cJSON *group = cJSON_Parse(line);
                fflush(stdout);
                rd_kafka_t *rk = strstr(text_of(group, "assignor"), "cooperative") ? cooperative : eager;
                for (unsigned still_s = STILL_S; !say(rk, group, still_s); still_s *= 2)
                        ;
                cJSON_Delete(group);
        }
        fflush(stdout);
        /* No member has left a group, for none has joined one. */
        _exit(0);
}
