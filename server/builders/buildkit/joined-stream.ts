import { Duplex, type Writable } from 'node:stream'

/** Returns one stream of what arrives and where to write. Both end with it. */
export function joinStream(arriving: AsyncIterator<Uint8Array, unknown>, outgoing: Writable): Duplex {
  const pull = async (): Promise<Uint8Array | null> => {
    const { done, value } = await arriving.next()
    // An empty piece would read as the end.
    return done ? null : value.length === 0 ? pull() : value
  }
  const stream = new Duplex({
    read: () =>
      void pull().then(
        (bytes) => stream.push(bytes),
        (error: Error) => stream.destroy(error),
      ),
    write: (bytes, _encoding, done) => void outgoing.write(bytes, () => done()),
    final: (done) => {
      outgoing.end()
      done()
    },
    destroy: (error, done) => {
      outgoing.destroy()
      done(error)
    },
  })
  return stream
}
