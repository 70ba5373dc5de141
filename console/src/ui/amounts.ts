/** Pure: thousandths of a core in words, such as "1.5 cores". */
export const cores = (milli: number): string =>
  `${Number((milli / 1000).toFixed(1))} ${milli === 1000 ? 'core' : 'cores'}`

/** Pure: MiB in words, such as "2.0 GiB". */
export const gibibytes = (mebibytes: number): string =>
  mebibytes < 1024 ? `${mebibytes} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Pure: a number of bytes in words, such as "1.5 MiB". */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10))
  const value = count / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`
}
