import { pageHeader, unreadStatuses } from '../unread-page.ts'

/** Headers of a page that its text does not fix. They are kept by a variable of this name. */
const kept = [
  ['content-type', 'txn.page_type'],
  ['content-security-policy', 'txn.page_policy'],
  ['retry-after', 'txn.page_retry'],
  ['www-authenticate', 'txn.page_challenge'],
] as const

const hasPage = '{ var(txn.page) -m found }'

/**
 * Answers a request whose body has not arrived. The router has written the page. HAProxy 2.6 would
 * wait a minute for the rest of the body if it passed the response on, and closes the connection
 * after a page of its own. Since 3.0 it always reads the rest first, so that the client can read
 * the page, until the client is silent for a minute.
 */
export const unreadRules: readonly string[] = [
  `  http-response set-var(txn.page) res.fhdr(${pageHeader}) if { res.fhdr(${pageHeader}) -m found }`,
  // Most responses meet no further rule.
  `  http-response allow if !${hasPage}`,
  ...kept.map(([name, variable]) => `  http-response set-var(${variable}) res.fhdr(${name}) if ${hasPage}`),
  ...unreadStatuses.map(
    (status) =>
      `  http-response return status ${status} content-type text/plain lf-string %[var(txn.page),b64dec] ` +
      `hdr cache-control no-store hdr x-content-type-options nosniff if ${hasPage} { status ${status} }`,
  ),
  `  http-after-response set-header connection close if ${hasPage}`,
  ...kept.map(
    ([name, variable]) =>
      `  http-after-response set-header ${name} %[var(${variable})] if { var(${variable}) -m found }`,
  ),
]
