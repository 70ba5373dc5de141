import { randomUUID } from 'node:crypto'
import type { Tree } from './git-remote.ts'

const dockerfile = (...lines: string[]): string =>
  ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', ...lines, 'CMD ["node", "app.js"]', ''].join('\n')

/**
 * Of this process alone: what a former run of a test built comes out of the engine's cache, and
 * takes no time.
 */
const once = randomUUID()

const run = (source: string): string => `RUN ["node", "-e", ${JSON.stringify(source)}]`

/**
 * Answers its version at any path, and the value of a variable at /variable/<name>. Ends in order
 * when it is asked to. Its build, and then its start, can be made to take some time.
 */
export const web = (
  version: string,
  options: { readonly port?: number; readonly buildMs?: number; readonly startMs?: number } = {},
): Tree => ({
  Dockerfile: options.buildMs ? dockerfile(run(`setTimeout(() => {}, ${options.buildMs}) // ${once}`)) : dockerfile(),
  'app.js': `
    const server = require('node:http').createServer((request, response) => {
      const name = /^\\/variable\\/(\\w+)$/.exec(request.url)?.[1]
      response.end(name ? String(process.env[name]) : ${JSON.stringify(version)})
    })
    const listen = () => server.listen(${options.port ?? 8080}, () => console.log('up ' + ${JSON.stringify(version)}))
    setTimeout(listen, ${options.startMs ?? 0})
    process.on('SIGTERM', () => {
      server.close(() => process.exit(0))
      server.closeIdleConnections()
    })`,
})

/** Answers its version at any path, and prints what it was asked for. */
export const printing = (version: string): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `
    require('node:http').createServer((request, response) => {
      console.log('asked for ' + request.url)
      response.end(${JSON.stringify(version)})
    }).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
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
export const building = (source: string): Tree => ({ Dockerfile: dockerfile(run(source)), 'app.js': '' })

/**
 * Counts up in two files of its volume at /data, the second right after the first, with a large
 * file between them in the order of names. Answers what it found there when it began: `<first>
 * <second>`.
 */
export const counting = (): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `
    const { existsSync, openSync, readFileSync, writeFileSync, writeSync } = require('node:fs')
    const read = (name) => (existsSync('/data/' + name) ? Number(readFileSync('/data/' + name, 'utf8')) : 0)
    const found = read('a') + ' ' + read('z')
    if (!existsSync('/data/m')) writeFileSync('/data/m', Buffer.alloc(48e6, 7))
    let count = read('a')
    // Over what is there: a file is never empty for a moment.
    const open = (name) => openSync('/data/' + name, existsSync('/data/' + name) ? 'r+' : 'w+')
    const [first, second] = [open('a'), open('z')]
    const write = (file) => writeSync(file, String(count).padStart(12, '0'), 0)
    setInterval(() => { count++; write(first); write(second) }, 2)
    require('node:http').createServer((_, response) => response.end(found)).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
})
