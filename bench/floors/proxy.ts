import { Agent, createServer, request } from 'node:http'

/** The smallest keep-alive proxy that Node gives: what the router is measured against. Arguments: its port, the upstream's. */
const [port, target] = process.argv.slice(2).map(Number)
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
createServer((incoming, answer) => {
  const outgoing = request(
    { host: '127.0.0.1', port: target, method: incoming.method, path: incoming.url, headers: incoming.headers, agent },
    (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers)
      received.pipe(answer)
    },
  )
  outgoing.on('error', () => answer.destroy())
  incoming.pipe(outgoing)
}).listen(port, '127.0.0.1')
