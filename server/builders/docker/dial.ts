import { Readable } from 'node:stream'
import type Docker from 'dockerode'

/** A request to the engine for what dockerode has no method for; gives the answer's body, or the socket after an upgrade. */
export function dial(docker: Docker, options: Parameters<Docker['modem']['dial']>[0]): Promise<Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>()
  docker.modem.dial(options, (error, stream) => {
    if (error) reject(error)
    else if (stream instanceof Readable) resolve(stream)
    else reject(new Error(`the engine answered ${options.path} without a stream`))
  })
  return promise
}
