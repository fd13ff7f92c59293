// Answers questions about keys with kafkajs: "<hex key or null> <n>" in, one partition a profile out.
//
// The first line out is the provenance in JSON, the second the names of the profiles; after them comes one line for
// each line in, in order.
'use strict'

const fs = require('node:fs')
const { Partitioners } = require('kafkajs')
const { name, version } = require('kafkajs/package.json')

const PROFILES = { kafkajs: 'DefaultPartitioner', 'kafkajs:legacy': 'LegacyPartitioner' }
const TOPIC = 't'
const FLUSHED_LINES = 1 << 14

// All have a leader: a partition without one would not be among those for a null key.
const metadata = new Map()
const partitionMetadata = n => {
  if (!metadata.has(n)) {
    const partition = partitionId => ({ partitionId, leader: 0, replicas: [0], isr: [0], partitionErrorCode: 0 })
    metadata.set(n, Array.from({ length: n }, (_, partitionId) => partition(partitionId)))
  }
  return metadata.get(n)
}

const partitioners = Object.values(PROFILES).map(constructor => Partitioners[constructor]())

const answer = question => {
  const [written, n] = question.split(' ')
  const message = { key: written === 'null' ? null : Buffer.from(written, 'hex'), value: null }
  const asked = { topic: TOPIC, partitionMetadata: partitionMetadata(Number(n)), message }
  return partitioners.map(partitioner => partitioner(asked)).join(' ')
}

const functions = Object.fromEntries(
  Object.entries(PROFILES).map(([profile, constructor]) => [profile, `Partitioners.${constructor}()`])
)
let answers = [JSON.stringify({ library: name, version, functions }), Object.keys(PROFILES).join(' ')]
const write = () => {
  fs.writeSync(1, answers.join('\n') + '\n')
  answers = []
}
for (const question of fs.readFileSync(0, 'latin1').split('\n')) {
  if (question === '') continue
  answers.push(answer(question))
  if (answers.length >= FLUSHED_LINES) write()
}
write()
