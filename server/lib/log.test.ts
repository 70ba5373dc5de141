import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { dropping, perTurn, usualFormat } from './log.ts'
import { start } from './run.ts'

test('the log writes the lines of one turn together, in order', async () => {
  const written: string[] = []
  const stream = perTurn((text) => written.push(text))
  stream.write('a\n')
  stream.write('b\n')
  assert.deepEqual(written, [])
  await new Promise((resolve) => void setImmediate(resolve))
  assert.deepEqual(written, ['a\nb\n'])
})

test('a slow reader receives whole lines, including the last turn before an exit', async () => {
  const program = `
    import { createLogger } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)}
    const log = createLogger('info')
    for (let n = 0; n < 3000; n++) log.info({ n, filler: 'x'.repeat(100) }, 'line')
    log.info({ token: 'hidden' }, 'last')
    process.exit(0)`
  const child = start(process.execPath, ['--input-type=module', '-e', program], {})
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  const lines = text.trimEnd().split('\n')
  assert.equal(lines.length, 3001)
  assert.match(lines.at(-1) ?? '', /"token":"\[secret\]".*"last"/)
})

test('the log drops lines that it cannot write, and keeps lines whole after a cut one', () => {
  let room = 5
  let kept = ''
  const write = dropping((bytes) => {
    if (room === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const written = bytes.subarray(0, room)
    room -= written.length
    kept += written.toString()
    return written.length
  })
  write('one\n')
  write('two\n')
  write('three\n')
  room = 100
  write('four\n')
  write('five\n')
  assert.equal(kept, 'one\nt\nfour\nfive\n')
})

test('the log is text on a terminal and JSON elsewhere', () => {
  assert.equal(usualFormat(true), 'text')
  assert.equal(usualFormat(false), 'json')
})

test('createLogger writes redacted text when asked for text, and JSON when asked for JSON', async () => {
  const program = `
    import { createLogger } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)}
    createLogger('info', 'text').info({ token: 'hidden', ms: 1200 }, 'first')
    createLogger('info', 'json').info('second')`
  const child = start(process.execPath, ['--input-type=module', '-e', program], {})
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  assert.match(text, /^\d\d:\d\d:\d\d {2}First {2}token=\[secret\] {2}\(1\.2 s\)$/m)
  assert.match(text, /^\{"level":"info".*"msg":"second"\}$/m)
})
