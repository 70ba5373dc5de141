import { once } from 'node:events'
import { request } from 'node:http'
import { Refusal } from './progress.mjs'

/** How many containers are stopped at the same time. */
const parallel = 8

/**
 * Stops the containers of an installation and keeps Docker from restarting them. Each has the grace
 * period of its service. Returns how many were stopped.
 * @param {import('./docker.mjs').EngineAddress} address
 * @param {string} instance
 * @returns {Promise<number>}
 */
export async function stopContainers(address, instance) {
  const filters = encodeURIComponent(JSON.stringify({ label: [`quayside.instance=${instance}`] }))
  const running = await call(address, 'GET', `/containers/json?filters=${filters}`)
  const waiting = [...running]
  const work = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) await stop(address, one.Id)
  }
  await Promise.all(Array.from({ length: parallel }, work))
  // A builder is no service.
  return running.filter(isOfService).length
}

/** @param {{ Labels?: Record<string, string> }} container */
const isOfService = ({ Labels }) => Labels?.['quayside.builder'] === undefined

/**
 * @param {import('./docker.mjs').EngineAddress} address
 * @param {string} id
 */
async function stop(address, id) {
  // Docker would restart it with the machine. The server restores the policy.
  await call(address, 'POST', `/containers/${id}/update`, { RestartPolicy: { Name: 'no' } })
  await call(address, 'POST', `/containers/${id}/stop`)
}

/**
 * Returns the answer's body, if it has one. A container that is gone or already stopped is not an
 * error.
 * @param {import('./docker.mjs').EngineAddress} address
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function call(address, method, path, body) {
  const headers = body ? { 'content-type': 'application/json' } : {}
  const outgoing = request({ ...address, method, path, headers })
  outgoing.end(body && JSON.stringify(body))
  const [answer] = await once(outgoing, 'response').catch((error) => {
    throw new Refusal(`The Docker Engine does not answer (${error.message}). Start it, and try again.`)
  })
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += part
  if (answer.statusCode >= 400 && answer.statusCode !== 404) {
    throw new Refusal(`The Docker Engine refused ${method} ${path}: ${text.trim()}`)
  }
  return text.startsWith('[') || text.startsWith('{') ? JSON.parse(text) : undefined
}
