import { createServer } from 'node:http'

// Asks the greeter of the environment, which the chart installs, for each answer.
const greeter = process.env.GREETER ?? 'http://greeter/greeting'

const server = createServer(async (_, response) => {
  try {
    const answer = await fetch(greeter, { signal: AbortSignal.timeout(5_000) })
    if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    const greeting = await answer.text()
    response.end(JSON.stringify({ greeting, knowsKey: Boolean(process.env.KEY) }))
  } catch (error) {
    console.error(`${greeter} cannot be read: ${error.cause?.code ?? error.message}`)
    response.writeHead(502).end(JSON.stringify({ problem: 'the greeter does not answer' }))
  }
})

server.listen(8080, () => console.log('listening on port 8080'))
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    server.close(() => process.exit(0))
    // Connections that never sent a request would keep the program from ending.
    setTimeout(() => process.exit(0), 5_000)
  })
}
