import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const rooms = ['bootstrap', 'client', 'console', 'contract', 'router', 'server']
/** Files that only tests run. */
const ofTests = /\.(?:test|cases|faults|child)\.(?:ts|mjs)$|(?:^|\/)test|-for-tests\.ts$|\.d\.ts$/

/** Every file of the product with code, as paths from the root with `/`, sorted. */
export function sourceFiles(): string[] {
  const all = rooms.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/node_modules|\.?dist/.test(entry.parentPath))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
  )
  return all.filter((file) => /\.(?:ts|tsx|mjs)$/.test(file) && !ofTests.test(file)).sort()
}
