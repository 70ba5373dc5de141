import { Agent, createServer, request } from 'node:http'

/**
 * The smallest keep-alive proxy in Node, as the floor of the router. Arguments: its port, the port
 * of the upstream.
 */
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
