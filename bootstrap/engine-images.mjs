import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { Refusal } from './progress.mjs'

/** @typedef {[program: string, args: string[], options: { cwd: string }]} Program */

/** The label of an image that was built here. Its value identifies the recipe. */
export const recipeLabel = 'quayside.recipe'

/**
 * Returns the image operations of an engine. They use its API, so no client program is needed.
 * @param {import('./docker.mjs').EngineAddress} address
 */
export function engineImages(address) {
  /**
   * Sends a request, with the output of a program as its body if there is one. Returns status and
   * text.
   * @param {string} method
   * @param {string} path
   * @param {Program} [program]
   */
  async function call(method, path, program) {
    const outgoing = request({
      ...address,
      method,
      path,
      headers: program ? { 'content-type': 'application/x-tar' } : {},
    })
    const answered = once(outgoing, 'response')
    const fed = program ? feed(program, outgoing) : Promise.resolve(outgoing.end())
    const [[response]] = await Promise.all([answered, fed])
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += part
    return { status: response.statusCode, text }
  }

  /**
   * Sends a request that reports progress line by line, and a failure in the last line. Returns the
   * printed lines.
   * @param {string} what
   * @param {string} path
   * @param {Program} [program]
   */
  async function work(what, path, program) {
    const { status, text } = await call('POST', path, program)
    const lines = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(parse)
    const output = lines.map(({ stream = '' }) => stream).join('')
    const error = status >= 300 ? (lines[0]?.message ?? text) : lines.find((line) => line.error)?.error
    if (error) throw new Refusal(`${output.slice(-2500)}\n${what} failed: ${error}`)
    return output
  }

  return {
    /**
     * Returns the labels of an image; undefined if it does not exist.
     * @param {string} reference
     * @returns {Promise<Record<string, string> | undefined>}
     */
    async labelsOf(reference) {
      const { status, text } = await call('GET', `/images/${encodeURIComponent(reference)}/json`)
      return status === 200 ? (JSON.parse(text).Config?.Labels ?? {}) : undefined
    },

    /**
     * Makes an image with one layer from the tar that a program prints.
     * @param {Program} program
     * @param {{ reference: string, recipe: string }} image
     */
    async importFrom(program, { reference, recipe }) {
      const [repo, tag] = splitReference(reference)
      const query = new URLSearchParams({ fromSrc: '-', repo, tag, changes: `LABEL ${recipeLabel}=${recipe}` })
      await work(`Importing ${reference}`, `/images/create?${query}`, program)
    },

    /**
     * Builds the tar that a program prints. Returns what the build printed.
     * @param {Program} program
     * @param {{ reference: string, recipe: string }} image
     */
    build(program, { reference, recipe }) {
      const labels = JSON.stringify({ [recipeLabel]: recipe })
      // Without the cache, so that packages are current and their version is printed.
      const query = new URLSearchParams({ t: reference, labels, nocache: '1', rm: '1', forcerm: '1' })
      return work(`Building ${reference}`, `/build?${query}`, program)
    },

    /**
     * Loads the images of an archive that a program prints.
     * @param {Program} program
     */
    load: (program) => work('Loading the image', '/images/load?quiet=1', program),

    /**
     * @param {string} from
     * @param {string} reference
     */
    async tag(from, reference) {
      const [repo, tag] = splitReference(reference)
      const { status, text } = await call(
        'POST',
        `/images/${encodeURIComponent(from)}/tag?${new URLSearchParams({ repo, tag })}`,
      )
      if (status !== 201) throw new Refusal(`Naming ${reference} failed: ${text}`)
    },
  }
}

/**
 * @param {string} line
 * @returns {{ stream?: string, message?: string, error?: string }}
 */
function parse(line) {
  try {
    return JSON.parse(line)
  } catch {
    return { stream: `${line}\n` }
  }
}

/**
 * @param {string} reference
 * @returns {[repo: string, tag: string]}
 */
function splitReference(reference) {
  const colon = reference.lastIndexOf(':')
  return [reference.slice(0, colon), reference.slice(colon + 1)]
}

/**
 * Sends what the program prints. If the program fails, the request is aborted, so the engine keeps
 * nothing incomplete.
 * @param {Program} program
 * @param {import('node:http').ClientRequest} outgoing
 */
async function feed([program, args, options], outgoing) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complaints = (complaints + text).slice(-2500)
  })
  child.stdout.pipe(outgoing, { end: false })
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code) => resolve(code === 0 ? undefined : `it ended with code ${code}`))
  })
  const problem = await ended
  if (!problem) return void outgoing.end()
  outgoing.on('error', () => {})
  outgoing.destroy()
  throw new Refusal(
    `${complaints}\n"${program}" failed: ${problem}. Check the network and the package sources of this machine.`,
  )
}
