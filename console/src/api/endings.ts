import type { KindName } from '@quayside/contract/services/kinds.ts'

/** The part of a service that its end erases, as far as a person chooses it. */
export type EndingName = 'ALL' | 'KEEP_VOLUMES' | 'SKIP_DESTROY' | 'RESOURCES_ONLY'

export interface Ending {
  readonly value: EndingName
  readonly label: string
  /** The things that it leaves, and who looks after them then. */
  readonly leaves?: string
}

type Endings = Partial<Readonly<Record<KindName, readonly Ending[]>>>

/** The ways to delete a service. A kind without a row has one way. The first is the usual one. */
export const deletions: Endings = {
  helm: [
    { value: 'ALL', label: 'the chart and its volumes' },
    {
      value: 'KEEP_VOLUMES',
      label: 'the chart; its volumes stay on the cluster',
      leaves: 'Its volumes stay and belong to no service. Remove them with kubectl once nobody needs them.',
    },
  ],
  terraform: [
    { value: 'ALL', label: 'its resources, then the stack' },
    {
      value: 'SKIP_DESTROY',
      label: 'the stack; its resources stay',
      leaves: 'Every resource that it has made stays, and nobody manages it any more.',
    },
    {
      value: 'RESOURCES_ONLY',
      label: 'its resources; the stack stays',
      leaves: 'Its settings and variables stay. Its next deployment makes the resources again.',
    },
  ],
}

/** The ways to uninstall a service, which keeps its settings. */
export const uninstallations: Endings = {
  helm: [
    { value: 'ALL', label: 'the installed chart and its volumes' },
    {
      value: 'KEEP_VOLUMES',
      label: 'the installed chart; its volumes stay',
      leaves: 'Its volumes stay on the cluster. The next deployment finds them again.',
    },
  ],
  terraform: [
    { value: 'ALL', label: 'its resources' },
    {
      value: 'SKIP_DESTROY',
      label: 'nothing outside; the platform forgets its resources',
      leaves: 'Every resource that it has made stays, and nobody manages it any more.',
    },
  ],
}

/** Pure: the query of an operation that ends a chart. */
export const chartEnding = (ending: EndingName) => (ending === 'KEEP_VOLUMES' ? { query: { keep_volumes: true } } : {})

/** Pure: the query of an uninstallation of a stack. */
export const stackUninstallation = (ending: EndingName) =>
  ending === 'SKIP_DESTROY' ? { query: { force_terraform_action: ending } } : {}

/** Pure: the query of a deletion of a stack. */
export const stackDeletion = (ending: EndingName) =>
  ending === 'RESOURCES_ONLY' ? { query: { resources_only: true } } : stackUninstallation(ending)
