/** Returns a number of GiB in bytes; undefined stays undefined. */
export function gibibytes(count: number): number
export function gibibytes(count: number | undefined): number | undefined
export function gibibytes(count: number | undefined): number | undefined {
  return count === undefined ? undefined : count * 1024 ** 3
}
