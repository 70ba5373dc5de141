import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planBuild } from './build-plan.ts'
import { recipeOf } from './builder.cases.ts'
import { checkTriggers } from './dockerfile-check.ts'

const doubling = (count: number, first = 'x'.repeat(64)): string[] => [
  `ENV A0=${first}`,
  ...Array.from({ length: count }, (_, index) => `ENV A${index + 1}=$A${index}$A${index}`),
]
const plan = (lines: readonly string[]) => () => planBuild(recipeOf('1', `${lines.join('\n')}\n`))

test('checkExpansion rejects variables that multiply each other', () => {
  for (const lines of [
    ['FROM a', ...doubling(12)],
    ['FROM a', ...doubling(12).map((line) => line.replace('=', ' '))],
    [...doubling(12).map((line) => line.replace('ENV', 'ARG')), 'FROM a', 'RUN x'],
    ['FROM a AS b', ...doubling(8), 'FROM b', ...doubling(8, '$A8')],
    ['FROM a', ...Array.from({ length: 40 }, (_, index) => `ENV B${index}=$UNKNOWN`)],
    ['FROM a', `ENV A=${'x'.repeat(1000)}`, `ENV B=\${A//x/yyyy}`],
    [
      'FROM a',
      `ENV A=${'x'.repeat(10_000)}`,
      `LABEL ${Array.from({ length: 50 }, (_, index) => `l${index}=$A`).join(' ')}`,
    ],
    ['FROM a', `ENV A=${'x'.repeat(10_000)}`, `WORKDIR ${'/$A'.repeat(50)}`],
  ]) {
    assert.throws(
      plan(lines),
      /Dockerfile, line \d+: with variables expanded, .* may have \d+ characters/,
      lines.join('\n').slice(0, 200),
    )
  }
  const triggers = doubling(12)
  assert.throws(
    () => checkTriggers(triggers, 'x', { path: 'Dockerfile', line: 1 }),
    /line 1: the base image "x" has an ONBUILD instruction that is not allowed: with/,
  )
  assert.throws(
    () => checkTriggers(Array(101).fill('USER a'), 'x', { path: 'Dockerfile', line: 1 }),
    /more than 100 ONBUILD instructions/,
  )
})

test('checkExpansion accepts variables in ordinary use', () => {
  for (const lines of [
    ['FROM a', ...Array.from({ length: 200 }, (_, index) => `ENV PATH=/opt/${index}/bin:$PATH`)],
    [
      'FROM a',
      `ENV ${Array.from({ length: 60 }, (_, index) => `V${index}=value${index}`).join(' ')} PATH=/x:$PATH HOME=/home`,
    ],
    [
      'ARG V=1',
      'FROM a:$V',
      'ARG V',
      `ENV A=$V B="$A and $V" C=\${A:-$B}`,
      'COPY $A $B /x',
      `RUN echo \${A//a/b} $A$A$A`,
    ],
  ]) {
    assert.doesNotThrow(plan(lines))
  }
})
