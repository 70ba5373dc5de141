import {
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'

/** A service of texts with all four kinds of calls, without a schema. */

const serialize = (text: string): Buffer => Buffer.from(text)
const deserialize = (bytes: Buffer): string => bytes.toString()
const coding = {
  requestSerialize: serialize,
  requestDeserialize: deserialize,
  responseSerialize: serialize,
  responseDeserialize: deserialize,
}
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Texts/${name}`,
  requestStream,
  responseStream,
  ...coding,
})

export const textsService = {
  unary: method('Unary', false, false),
  collect: method('Collect', true, false),
  repeat: method('Repeat', false, true),
  converse: method('Converse', true, true),
} satisfies ServiceDefinition

/** A client of the service at a port of this machine, under the name of its certificate. */
export interface TextsClient {
  unary(text: string, options?: CallOptions): Promise<string>
  /** Sends these texts. Returns the answer to all of them. */
  collect(texts: readonly string[]): Promise<string>
  /** Returns the texts of a stream. */
  repeat(text: string): Promise<readonly string[]>
  /** Sends each text once the answer to the one before has arrived. Returns the answers. */
  converse(texts: readonly string[]): Promise<readonly string[]>
  /** Calls a method and cancels it once it has begun. */
  begin(text: string): { cancel(): void; readonly status: Promise<StatusObject> }
  close(): void
}

interface CallOptions {
  readonly deadlineMs?: number
  readonly metadata?: Readonly<Record<string, string>>
}

export interface TextsPlace {
  readonly port: number
  readonly host: string
  /** 127.0.0.1 by default. */
  readonly address?: string
  /** The root that signed the certificate of the host, in PEM format. Without it: no TLS. */
  readonly root?: string
}

export function textsClient({ port, host, root, address = '127.0.0.1' }: TextsPlace): TextsClient {
  const options: ClientOptions = {
    'grpc.default_authority': host,
    ...(root !== undefined && { 'grpc.ssl_target_name_override': host }),
  }
  const security = root === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(root))
  const client = new Client(`${address}:${port}`, security, options)
  const { unary, collect, repeat, converse } = textsService
  return {
    unary: (text, { deadlineMs, metadata = {} } = {}) =>
      new Promise((resolve, reject) => {
        const sent = new Metadata()
        for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
        const deadline = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
        const done = (error: ServiceError | null, answer?: string): void => {
          if (error) reject(error)
          else resolve(answer ?? '')
        }
        client.makeUnaryRequest(unary.path, serialize, deserialize, text, sent, deadline, done)
      }),
    collect: (texts) =>
      new Promise((resolve, reject) => {
        const call = client.makeClientStreamRequest(collect.path, serialize, deserialize, (error, answer) => {
          if (error) reject(error)
          else resolve(answer ?? '')
        })
        for (const text of texts) call.write(text)
        call.end()
      }),
    repeat: async (text) => {
      const call = client.makeServerStreamRequest(repeat.path, serialize, deserialize, text)
      const texts: string[] = []
      for await (const one of call) texts.push(String(one))
      return texts
    },
    converse: async (texts) => {
      const call = client.makeBidiStreamRequest(converse.path, serialize, deserialize)
      const answers: string[] = []
      let next = 0
      const send = (): void => {
        const text = texts[next++]
        if (text === undefined) call.end()
        else call.write(text)
      }
      send()
      for await (const one of call) {
        answers.push(String(one))
        send()
      }
      return answers
    },
    begin: (text) => {
      const call = client.makeServerStreamRequest(repeat.path, serialize, deserialize, text)
      call.on('error', () => {}).resume()
      const status = new Promise<StatusObject>((resolve) => void call.on('status', resolve))
      return { cancel: () => call.cancel(), status }
    },
    close: () => client.close(),
  }
}
