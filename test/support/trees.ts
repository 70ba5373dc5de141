import { randomUUID } from 'node:crypto'
import type { Tree } from './git-remote.ts'

const dockerfile = (...lines: string[]): string =>
  ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', ...lines, 'CMD ["node", "app.js"]', ''].join('\n')

/**
 * Differs for each process. Otherwise a build of an earlier run would come from the engine's cache
 * and take no time.
 */
const once = randomUUID()

const run = (source: string): string => `RUN ["node", "-e", ${JSON.stringify(source)}]`

/**
 * Returns a program that answers its version at any path, and a variable at /variable/<name>. It
 * ends in order on SIGTERM. Its build and its start can be made to take some time.
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

/** A program that answers with the headers of the request, as a page. */
export const headersPage: Tree = {
  Dockerfile: dockerfile(),
  'app.js': `
    require('node:http').createServer((request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><title>Inside</title><pre>' +
        JSON.stringify({ url: request.url, headers: request.headers }).replaceAll('<', '') + '</pre>')
    }).listen(8080, () => console.log('up'))
    process.on('SIGTERM', () => process.exit(0))`,
}

/** Returns a program that answers its version at any path and prints the paths. */
export const printing = (version: string): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `
    require('node:http').createServer((request, response) => {
      console.log('asked for ' + request.url)
      response.end(${JSON.stringify(version)})
    }).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
})

/** Returns a program that prints an error and ends. */
export const crashing = (text: string): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `console.log('starting'); console.error(${JSON.stringify(text)}); process.exitCode = 7`,
})

/** Returns a program that runs and never listens. */
export const silent = (): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `console.log('I wait'); process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1e6)`,
})

export const outOfMemory = (): Tree => ({
  Dockerfile: dockerfile(),
  'app.js': `const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1))`,
})

export const withoutDockerfile = (): Tree => ({ 'app.js': 'nothing builds me' })

/** Returns a tree whose build runs this program. */
export const building = (source: string): Tree => ({ Dockerfile: dockerfile(run(source)), 'app.js': '' })

/**
 * Returns a program that counts up in two files of its volume at /data, the second right after the
 * first. A large file sorts between them. It answers what the files held when it started: `<first>
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
    // Overwrites in place, so that a file is never empty.
    const open = (name) => openSync('/data/' + name, existsSync('/data/' + name) ? 'r+' : 'w+')
    const [first, second] = [open('a'), open('z')]
    const write = (file) => writeSync(file, String(count).padStart(12, '0'), 0)
    setInterval(() => { count++; write(first); write(second) }, 2)
    require('node:http').createServer((_, response) => response.end(found)).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
})
