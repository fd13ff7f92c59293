// Sends records with kafkajs: `write.js HOST:PORT TOPIC`, a line for each, "<hex key or null>", on stdin.
'use strict'

const fs = require('node:fs')
const { Kafka, Partitioners, logLevel } = require('kafkajs')

const [bootstrap, topic] = process.argv.slice(2)

const main = async () => {
  const lines = fs.readFileSync(0, 'latin1').split('\n').filter(line => line !== '')
  const messages = lines.map(line => ({ key: line === 'null' ? null : Buffer.from(line, 'hex'), value: 'v' }))
  const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({ topic, messages })
  await producer.disconnect()
}

main().catch(error => {
  console.error(String(error))
  process.exit(1)
})
