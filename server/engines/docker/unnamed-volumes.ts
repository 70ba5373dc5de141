import { label } from './labels.ts'

type Labels = Readonly<Record<string, string>> | null

/** The parts of the daemon's response to `GET /system/df` that we use. */
interface Measured {
  readonly Volumes?:
    | readonly {
        readonly Name: string
        readonly Labels?: Labels
        /** -1: unknown. */
        readonly UsageData?: { readonly Size: number } | null
      }[]
    | null
  readonly Containers?:
    | readonly {
        readonly Labels?: Labels
        readonly SizeRw?: number
        readonly Mounts?: readonly { readonly Type?: string; readonly Name?: string }[] | null
      }[]
    | null
}

/**
 * Pure: adds the size of a container's unnamed volumes to its layer. An image can declare such
 * volumes, and Docker removes them with the container. Nothing else counts them.
 */
export function countUnnamedVolumes<M extends Measured>(measured: M): M {
  const unnamed = new Map<string, number>()
  for (const { Name, Labels, UsageData } of measured.Volumes ?? []) {
    if (Labels?.[label.instance] === undefined) unnamed.set(Name, Math.max(0, UsageData?.Size ?? 0))
  }
  const containers = measured.Containers?.map((container) => {
    const names = new Set(
      (container.Mounts ?? []).flatMap(({ Type, Name }) => (Type === 'volume' && Name ? [Name] : [])),
    )
    const bytes = [...names].reduce((sum, name) => sum + (unnamed.get(name) ?? 0), container.SizeRw ?? 0)
    return { ...container, SizeRw: bytes }
  })
  return { ...measured, ...(containers && { Containers: containers }) }
}
