import { createServer } from 'node:net'

/**
 * Answers every request with the same few bytes as cheaply as possible, so that only the proxy in
 * front is measured.
 */
const answer = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\nConnection: keep-alive\r\n\r\nHello, world!\n',
)
const end = Buffer.from('\r\n\r\n')

createServer({ noDelay: true }, (socket) => {
  socket.on('data', (chunk) => {
    let at = chunk.indexOf(end)
    while (at >= 0) {
      socket.write(answer)
      at = chunk.indexOf(end, at + end.length)
    }
  })
  socket.on('error', () => socket.destroy())
}).listen(Number(process.argv[2]), '127.0.0.1')
