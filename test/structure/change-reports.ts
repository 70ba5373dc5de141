/**
 * Operations whose request alone changes no state, and the event that follows later. The stream of
 * an organization reports every other writing operation at once; test/contract/audit.test.ts checks
 * it.
 */
export const laterReports: Readonly<Record<string, string>> = {
  promoteServiceCanary: 'Its deployment goes on within seconds. Then `service.state` reports the end of it.',
  cancelJobRun: 'The run goes on until its container has ended. Then `service.running` reports its end.',
}
