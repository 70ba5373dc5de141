/** What scaling needs of others: carries out a number of replicas that was written down. */
export interface Announcer {
  /** Reports that another number was written down for a service. `sentence` is for people. */
  readonly changed: (serviceId: string, sentence: string) => void
}
