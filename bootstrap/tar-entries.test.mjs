import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { execute } from './execute.mjs'
import { tarOf } from './tar-entries.mjs'

test('tarOf writes an archive that tar unpacks, with modes, owners and capabilities', async () => {
  const place = mkdtempSync(join(tmpdir(), 'quayside-tar-'))
  try {
    const capabilities = Buffer.from('0100000280000000000000000000000000000000', 'hex')
    const archive = tarOf([
      { name: 'a/', mode: 0o755 },
      { name: 'a/program', mode: 0o750, owner: 1000, content: Buffer.alloc(513, 'x'), capabilities },
      { name: 'a/empty', mode: 0o644, content: Buffer.alloc(0) },
    ])
    writeFileSync(join(place, 'a.tar'), archive)
    const listed = await execute('tar', ['--list', '--verbose', '--numeric-owner', '--file', join(place, 'a.tar')])
    assert.equal(listed.code, 0, listed.output)
    assert.match(listed.output, /^-rwxr-x--- 1000\/1000 +513 .* a\/program$/m)
    const headers = await execute('tar', ['--extract', '--file', join(place, 'a.tar'), '--directory', place])
    assert.equal(headers.code, 0, headers.output)
    assert.equal(statSync(join(place, 'a', 'program')).size, 513)
    assert.equal(statSync(join(place, 'a', 'empty')).size, 0)
    assert.ok(archive.includes('SCHILY.xattr.security.capability='))
    assert.throws(() => tarOf([{ name: 'x'.repeat(101), mode: 0o644 }]), /too long/)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
})
