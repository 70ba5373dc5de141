import type { Tree } from './git-remote.ts'

/** The service of `textsClient`, without a library: Node.js frames the messages of gRPC itself. */
export const texts = (name: string): Tree => ({
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    const frame = (text) => {
      const bytes = Buffer.from(text)
      const head = Buffer.alloc(5)
      head.writeUInt32BE(bytes.length, 1)
      return Buffer.concat([head, bytes])
    }
    const answers = {
      Unary: (call) => ({ text: ([one]) => call.end(frame('${name} ' + one)) }),
      Collect: (call) => ({ text: (all) => call.end(frame(all.join())) }),
      Repeat: (call) => ({ text: ([count]) => {
        for (let index = 0; index < Number(count); index++) call.write(frame(String(index)))
        call.end()
      } }),
      Converse: (call) => ({ each: (text) => call.write(frame(text.toUpperCase())), text: () => call.end() }),
    }
    const server = require('node:http2').createServer()
    server.on('stream', (call, headers) => {
      const answer = answers[headers[':path'].split('/')[2]](call)
      call.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      call.on('wantTrailers', () => call.sendTrailers({ 'grpc-status': '0' }))
      call.on('error', () => {})
      const all = []
      let rest = Buffer.alloc(0)
      call.on('data', (chunk) => {
        rest = Buffer.concat([rest, chunk])
        while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
          const end = 5 + rest.readUInt32BE(1)
          const text = rest.subarray(5, end).toString()
          rest = rest.subarray(end)
          all.push(text)
          answer.each?.(text)
        }
      })
      call.on('end', () => answer.text(all))
    })
    server.listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
})
