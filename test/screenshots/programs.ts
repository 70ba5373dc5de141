import type { Tree } from '../support/git-remote.ts'

// The programs of a shop. They answer HTTP, print lines and end in order.

const tree = (source: string): Tree => ({
  Dockerfile: ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', 'CMD ["node", "app.js"]', ''].join('\n'),
  'app.js': `process.on('SIGTERM', () => process.exit(0))\n${source}`,
})

/** Serves pages, works a little for each, and prints a line like a web server. */
export const storefront = (version: string): Tree =>
  tree(`
    const started = Date.now()
    const say = (level, text) => console.log(level + ' ' + text)
    const paths = ['/', '/products/42', '/cart', '/products/7', '/search?q=lamp', '/checkout', '/products/19']
    let count = 0
    require('node:http').createServer((request, response) => {
      const begun = performance.now()
      while (performance.now() - begun < 6 + 5 * Math.sin(count / 40)) Math.sqrt(count)
      const path = paths[count++ % paths.length]
      if (count % 43 === 0) say('WARN', 'stock of product 19 is low: 3 left')
      if (count % 97 === 0) say('ERROR', 'payment of order ' + (4100 + count) + ' was declined: card expired')
      say('INFO', 'GET ' + path + ' 200 ' + (performance.now() - begun).toFixed(1) + ' ms')
      response.end('storefront ${version}')
    }).listen(8080, () => say('INFO', 'storefront ${version} listens on port 8080'))`)

/** Answers JSON. Keeps some memory, so that its figures differ from the other programs. */
export const api = (version: string): Tree =>
  tree(`
    const kept = Buffer.alloc(12e6, 1)
    const say = (text) => console.log('\\u001b[36mapi\\u001b[0m ' + text)
    require('node:http').createServer((request, response) => {
      say('query products in ' + (1 + kept.length % 7) + ' ms')
      response.end(JSON.stringify({ version: '${version}' }))
    }).listen(8080, () => say('${version} is ready, 4 routes, 1 database'))`)

/** Looks for something that it does not have, and ends. */
export const failingSearch: Tree = tree(`
  console.error('ELASTIC_URL is not set')
  process.exit(1)`)

/** Answers searches. */
export const search: Tree = tree(`
  require('node:http').createServer((_, response) => response.end('[]'))
    .listen(8080, () => console.log('search 1.3.2 has an index of 12,480 products'))`)
