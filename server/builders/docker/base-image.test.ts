import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLibraries } from './base-image.ts'

test('parseLibraries finds libraries and the loader, and skips entries without a file', () => {
  const output = [
    '\tlinux-vdso.so.1 (0x00007fd56f06d000)',
    '\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007fd56ee00000)',
    '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fd56eb3e000)',
    '\t/lib64/ld-linux-x86-64.so.2 (0x00007fd56f06f000)',
    '',
  ].join('\n')
  assert.deepEqual(parseLibraries(output), [
    '/lib/x86_64-linux-gnu/libstdc++.so.6',
    '/lib/x86_64-linux-gnu/libc.so.6',
    '/lib64/ld-linux-x86-64.so.2',
  ])
})

test('parseLibraries throws for a missing library', () => {
  assert.throws(() => parseLibraries('\tlibfoo.so.1 => not found\n'), /libfoo\.so\.1 is not installed/)
})
