import { once } from 'node:events'
import { createServer } from 'node:http'

/** Answers every request with zeros that are in no file. Arguments: a port, and how many bytes. */
const [port = 0, bytes = 0] = process.argv.slice(2).map(Number)
const piece = Buffer.alloc(1024 * 1024)

createServer(async (_, response) => {
  response.on('error', () => response.destroy())
  response.writeHead(200, { 'Content-Length': bytes })
  for (let left = bytes; left > 0 && !response.destroyed; left -= piece.length) {
    if (!response.write(left < piece.length ? piece.subarray(0, left) : piece)) await once(response, 'drain')
  }
  response.end()
}).listen(port, '127.0.0.1')
