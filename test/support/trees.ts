import type { Tree } from './git-remote.ts'

const dockerfile = (...lines: string[]): string =>
  ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', ...lines, 'CMD ["node", "app.js"]', ''].join('\n')

const respectful = `process.on('SIGTERM', () => { server.close(() => process.exit(0)); server.closeIdleConnections() })`

/** Answers its version at any path, and the value of a variable at /variable/<name>. Ends in order when it is asked to. */
export const web = (version: string, port = 8080): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `
    const server = require('node:http').createServer((request, response) => {
      const name = /^\\/variable\\/(\\w+)$/.exec(request.url)?.[1]
      response.end(name ? String(process.env[name]) : ${JSON.stringify(version)})
    })
    server.listen(${port}, () => console.log('up ' + ${JSON.stringify(version)}))
    ${respectful}`,
})

/** Like `web`, with a build that takes so long. */
export const slowlyBuilt = (version: string, ms: number): Tree => ({
  ...web(version),
  Dockerfile: dockerfile(`RUN ["node", "-e", "setTimeout(() => {}, ${ms})"]`),
})

/** Prints what is wrong and ends. */
export const crashing = (text: string): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `console.log('starting'); console.error(${JSON.stringify(text)}); process.exitCode = 7`,
})

/** Runs, and never listens. */
export const silent = (): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `console.log('I wait'); process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1e6)`,
})

export const outOfMemory = (): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1))`,
})

export const withoutDockerfile = (): Tree => ({ 'app.js': 'nothing builds me' })

/** Its build runs this program. */
export const building = (program: string): Tree => ({
  Dockerfile: dockerfile(`RUN ["node", "-e", ${JSON.stringify(program)}]`),
  'app.js': '',
})
