import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { internalHost } from '../../server/variables/index.ts'
import { makeApplication, type TestApplication } from './application.ts'
import type { Tree } from './git-remote.ts'
import type { ServerProcess } from './server-process.ts'

/**
 * A web server in an environment that keeps documents for stacks: resources of the provider of
 * tests, or a state of the backend `http`. A test reads and changes them from outside.
 */
export interface Lab {
  readonly application: TestApplication
  /** The URL of a document for stacks of the environment. */
  inside(name: string): string
  /** Returns a document, or undefined if it does not exist. */
  read(name: string): Promise<string | undefined>
  /** Changes a document behind the back of its stack. Undefined deletes it. */
  write(name: string, content: string | undefined): Promise<void>
  /** Holds back the reads of stacks, or releases them. */
  hold(isHeld: boolean): Promise<void>
  /** Refuses or accepts a method for every document from now on. */
  refuse(method: 'PUT' | 'POST' | 'GET' | 'DELETE', isRefused: boolean): Promise<void>
}

const tree: Tree = {
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    const documents = new Map()
    const refused = new Set()
    const waiting = []
    let isHeld = false
    const server = require('node:http').createServer((request, response) => {
      const parts = []
      request.on('data', (part) => parts.push(part))
      request.on('end', () => {
        const [, area, name] = request.url.split('?')[0].split('/')
        const end = (status, text = '') => { response.statusCode = status; response.end(text) }
        const text = Buffer.concat(parts).toString()
        if (area === 'hold') {
          isHeld = text === 'yes'
          if (!isHeld) for (const go of waiting.splice(0)) go()
          return end(200, String(waiting.length))
        }
        if (area === 'refusal') return end(200, String(text === 'yes' ? refused.add(name) : refused.delete(name)))
        const isTest = request.headers['x-test'] === 'yes'
        if (!isTest && refused.has(request.method)) return end(500, request.method + ' is refused by the lab')
        if (area !== 'documents') return end(200, 'lab')
        if (request.method === 'DELETE') return end(200, String(documents.delete(name)))
        const answer = () => (documents.has(name) ? end(200, documents.get(name)) : end(404))
        if (request.method === 'GET') return isHeld && !isTest ? waiting.push(answer) : answer()
        documents.set(name, text)
        end(200)
      })
    })
    server.listen(8080, () => console.log('up'))
    process.on('SIGTERM', () => process.exit(0))`,
}

/** Deploys a lab into an environment and waits until it is running. */
export async function makeLab(server: ServerProcess, environmentId: string): Promise<Lab> {
  const application = await makeApplication(server, { environmentId, name: 'lab', settings: { cpu: 100 } })
  await application.run(tree)
  const { port, host } = new URL(application.url)
  // The name of the application is not resolved: the router listens on 127.0.0.1.
  const send = async (method: string, path: string, body = ''): Promise<{ status: number; body: string }> => {
    const headers = { host, 'x-test': 'yes' }
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers }).end(body)
    const [response]: IncomingMessage[] = await once(outgoing, 'response')
    if (!response) throw new Error('the lab did not answer')
    const answer = { status: response.statusCode ?? 0, body: await text(response) }
    if (answer.status !== 200 && answer.status !== 404) throw new Error(`the lab answered ${answer.status}`)
    return answer
  }
  const name = internalHost({ kind: 'application', id: application.id })
  return {
    application,
    inside: (document) => `http://${name}:8080/documents/${document}`,
    read: async (name) => {
      const response = await send('GET', `/documents/${name}`)
      return response.status === 404 ? undefined : response.body
    },
    write: async (name, content) => {
      await send(content === undefined ? 'DELETE' : 'PUT', `/documents/${name}`, content)
    },
    hold: async (isHeld) => void (await send('POST', '/hold', isHeld ? 'yes' : 'no')),
    refuse: async (method, isRefused) => void (await send('POST', `/refusal/${method}`, isRefused ? 'yes' : 'no')),
  }
}
