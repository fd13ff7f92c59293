// Asks the assigner of kafkajs who reads what: a group of JSON a line in; its `assignment`, or its `error`, a line out.
//
// The first line out is the provenance. The leader is the member that `leader` names, or the first one.
'use strict'

const fs = require('node:fs')
const { AssignerProtocol, PartitionAssigners } = require('kafkajs')
const { name, version } = require('kafkajs/package.json')

const ASSIGNERS = { 'kafkajs:RoundRobinAssigner': PartitionAssigners.roundRobin }

// The cluster's metadata: a topic that the brokers do not know has no partitions.
const cluster = topics => ({
  findTopicPartitionMetadata: topic =>
    Array.from({ length: topics[topic] ?? 0 }, (_, partitionId) => ({ partitionId })),
})

// A consumer keeps its topics as the keys of an object, so each is there once.
const subscription = topics => Object.keys(Object.fromEntries(topics.map(topic => [topic, true])))

const answer = async ({ assignor, topics, members, leader }) => {
  const assigner = ASSIGNERS[assignor]({ cluster: cluster(topics) })
  const leads = members.find(({ id }) => id === leader) ?? members[0]
  const asked = members.map(({ id, topics }) => ({
    memberId: id,
    memberMetadata: assigner.protocol({ topics: subscription(topics) }).metadata,
  }))
  const assigned = await assigner.assign({ members: asked, topics: subscription(leads?.topics ?? []) })
  const assignment = Object.fromEntries(members.map(({ id }) => [id, []]))
  for (const { memberId, memberAssignment } of assigned) {
    const read = AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment
    assignment[memberId] = Object.entries(read).flatMap(([topic, partitions]) =>
      partitions.map(partition => [topic, partition])
    )
  }
  return { assignment }
}

const main = async () => {
  const answers = [JSON.stringify({ library: name, version })]
  for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
    if (line === '') continue
    answers.push(JSON.stringify(await answer(JSON.parse(line)).catch(error => ({ error: String(error) }))))
  }
  fs.writeFileSync(1, answers.join('\n') + '\n')
}

main()
