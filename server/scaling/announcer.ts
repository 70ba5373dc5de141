/** The role that scaling needs of others: applies a stored number of replicas. */
export interface Announcer {
  /** Reports that the stored number of a service's replicas changed. `sentence` is for people. */
  readonly changed: (serviceId: string, sentence: string) => void
}
