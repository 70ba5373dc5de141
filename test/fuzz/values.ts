import { type Schema, sampleOf } from '../contract/sample.ts'
import type { Random } from './random.ts'

/** Texts that have broken programs before. */
const texts = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '𝒳'.repeat(300),
  'a'.repeat(70_000),
  '../../etc/passwd',
  '--upload-pack=x',
  "'; drop table service; --",
  '{{A}}',
  '%00',
  '$(id)',
  '__proto__',
  'constructor',
  '0190ffff-ffff-7fff-bfff-ffffffffffff',
  '2026-02-30T25:61:61Z',
  'http://127.0.0.1:1/x.git',
  'file:///etc/passwd',
  '*.example.com',
  '0 0 31 2 *',
  'Europe/Nowhere',
] as const
const numbers = [0, -0, -1, 1, 0.5, 2 ** 31, -(2 ** 31), 2 ** 53, 1e308, -1e308, 65_536] as const

/** Anything that JSON can say, small. */
export function anything(random: Random, depth = 2): unknown {
  const kind = random.below(depth > 0 ? 7 : 5)
  if (kind === 0) return null
  if (kind === 1) return random.percent(50)
  if (kind === 2) return random.pick(numbers)
  if (kind <= 4) return random.pick(texts)
  const members = Array.from({ length: random.below(4) }, () => anything(random, depth - 1))
  if (kind === 5) return members
  return Object.fromEntries(members.map((member) => [random.pick(texts), member]))
}

/** A value that the schema takes in most of its parts, and does not in some. */
export function almost(given: Schema, random: Random): unknown {
  const schema = given.anyOf ? random.pick(given.anyOf) : given
  if (random.percent(4)) return anything(random)
  if (schema.enum) return random.pick(schema.enum)
  const types = [schema.type ?? 'object'].flat()
  switch (random.pick(types)) {
    case 'null':
      return null
    case 'string':
      return random.percent(30)
        ? random.pick(texts)
        : `${sampleOf(schema)}${random.percent(50) ? random.below(1000) : ''}`
    case 'integer':
    case 'number':
      return random.percent(20) ? random.pick(numbers) : (schema.minimum ?? 0) + random.below(50)
    case 'boolean':
      return random.percent(50)
    case 'array':
      return Array.from({ length: random.below(3) }, () => almost(schema.items ?? {}, random))
    default:
      return almostObject(schema, random)
  }
}

function almostObject({ properties = {}, required = [] }: Schema, random: Random): unknown {
  const members = Object.entries(properties)
    .filter(([name]) => random.percent(required.includes(name) ? 97 : 40))
    .map(([name, property]) => [name, almost(property, random)])
  if (random.percent(3)) members.push([random.pick(texts), anything(random)])
  return Object.fromEntries(members)
}
