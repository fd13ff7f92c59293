/* Lets librdkafka's assignors answer: a group in JSON a line in, its assignment a line out, after a line of provenance.
 *
 * There is no public way to ask them. This file includes rdkafka_cgrp.c, because the cooperative adjustment and the
 * parser of a member's metadata are static there; nothing of either is changed. Each member's subscription is written
 * by the client's own function and read back by its own parser. A group is answered in a process of its own: where that
 * dies (the address sanitizer sees to it that freed memory is never read in silence) or goes on for ever, the answer
 * says so. */
#include "rdkafka_cgrp.c"

#include "cJSON.h"

#include <sys/wait.h>
#include <unistd.h>

#define MOST_S 60

static const char *text_of(const cJSON *object, const char *field) {
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, field));
}

/* The topics that some member subscribes to, in the order given, with the sorted racks of each partition. */
static rd_kafka_metadata_t *metadata_of(const cJSON *group) {
        const cJSON *topics = cJSON_GetObjectItemCaseSensitive(group, "topics");
        const cJSON *racks  = cJSON_GetObjectItemCaseSensitive(group, "racks");
        size_t count        = (size_t)cJSON_GetArraySize(topics), at = 0;
        rd_kafka_metadata_topic_t *asked = rd_calloc(count + 1, sizeof(*asked));
        const cJSON *topic;

        cJSON_ArrayForEach(topic, topics) {
                asked[at].topic           = topic->string;
                asked[at++].partition_cnt = topic->valueint;
        }
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
}

/* What the leader reads of a member; false where it leaves it out. */
static rd_bool_t read_member(rd_kafka_t *rk, const rd_kafka_assignor_t *rkas, const cJSON *given,
                             rd_kafka_group_member_t *rkgm) {
        rd_list_t topics;
        rd_kafka_topic_partition_list_t *owned = NULL;
        const cJSON *each, *claims = cJSON_GetObjectItemCaseSensitive(given, "owned");
        const cJSON *generation = cJSON_GetObjectItemCaseSensitive(given, "generation");
        const char *rack        = text_of(given, "rack");

        rd_list_init(&topics, 0, NULL);
        cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(given, "topics"))
                rd_list_add(&topics, rd_kafka_topic_info_new(each->valuestring, -1));
        if (claims) {
                owned = rd_kafka_topic_partition_list_new(0);
                cJSON_ArrayForEach(each, claims)
                        rd_kafka_topic_partition_list_add(owned, cJSON_GetArrayItem(each, 0)->valuestring,
                                                          cJSON_GetArrayItem(each, 1)->valueint);
        }
        rd_kafkap_bytes_t *metadata = rd_kafka_consumer_protocol_member_metadata_new(
            &topics, NULL, 0, owned,
            rkas->rkas_protocol == RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE && generation ? generation->valueint : -1,
            /* A client whose client.rack is not set sends its default, which is empty. */
            rack ? rd_kafkap_str_new(rack, -1) : rk->rk_conf.client_rack);

        memset(rkgm, 0, sizeof(*rkgm));
        rkgm->rkgm_member_id         = rd_kafkap_str_new(text_of(given, "id"), -1);
        rkgm->rkgm_group_instance_id = rd_kafkap_str_new(text_of(given, "instance_id"), -1);
        rd_list_init(&rkgm->rkgm_eligible, 0, NULL);
        rkgm->rkgm_generation = -1;
        if (rd_kafka_group_MemberMetadata_consumer_read(NULL, rkgm, metadata))
                return rd_false;
        rkgm->rkgm_assignment = rd_kafka_topic_partition_list_new(rkgm->rkgm_subscription->cnt);
        return rd_true;
}

static void answer(rd_kafka_t *rk, const cJSON *group, FILE *to) {
        const char *wire          = strchr(text_of(group, "assignor"), ':') + 1;
        char *name                = rd_strndup(wire, strcspn(wire, "@"));
        rd_kafka_assignor_t *rkas = rd_kafka_assignor_find(rk, name);
        const cJSON *given, *members = cJSON_GetObjectItemCaseSensitive(group, "members");
        rd_kafka_group_member_t *read = rd_calloc((size_t)cJSON_GetArraySize(members) + 1, sizeof(*read));
        int count = 0, i, j;
        char errstr[512];

        cJSON_ArrayForEach(given, members) count += read_member(rk, rkas, given, &read[count]) ? 1 : 0;
        if (rd_kafka_assignor_run(rk->rk_cgrp, rkas, metadata_of(group), read, count, errstr, sizeof(errstr)))
                abort();
        if (rkas->rkas_protocol == RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE)
                rd_kafka_cooperative_protocol_adjust_assignment(rk->rk_cgrp, read, count);

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

int main(void) {
        char *line  = NULL;
        size_t size = 0;
        rd_kafka_t *eager = consumer("range,roundrobin"), *cooperative = consumer("cooperative-sticky");

        /* The version's text also has what it was compiled with: 2.15.1-O0. */
        int version = rd_kafka_version();
        printf("{\"library\": \"librdkafka\", \"version\": \"%d.%d.%d\"}\n", version >> 24 & 0xff,
               version >> 16 & 0xff, version >> 8 & 0xff);
        while (getline(&line, &size, stdin) > 0) {
                int ends[2], status = 0;
                char part[65536];
                ssize_t got;
                size_t all = 0;
                cJSON *group = cJSON_Parse(line);
                if (pipe(ends))
                        abort();
                fflush(stdout);
                pid_t child = fork();
                if (child == 0) {
                        FILE *to = fdopen(ends[1], "w");
                        if (!freopen("/dev/null", "w", stderr))
                                abort();
                        alarm(MOST_S);
                        answer(strstr(text_of(group, "assignor"), "cooperative") ? cooperative : eager, group, to);
                        _exit(0);
                }
                close(ends[1]);
                while ((got = read(ends[0], part, sizeof(part))) > 0) {
                        fwrite(part, 1, (size_t)got, stdout);
                        all += (size_t)got;
                }
                close(ends[0]);
                waitpid(child, &status, 0);
                if (!all)
                        printf("{\"error\": \"%s\"}\n",
                               WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "for ever" : "dies");
                cJSON_Delete(group);
        }
        fflush(stdout);
        /* No member has left a group, for none has joined one. */
        _exit(0);
}
