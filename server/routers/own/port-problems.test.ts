import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portForbiddenText, portInUseText } from './port-problems.ts'

const plain = { host: '127.0.0.1', port: 80 }
const secure = { host: '0.0.0.0', port: 80, tls: { port: 443 } }
const allThree = /QUAYSIDE_ROUTER_HOST, QUAYSIDE_ROUTER_PORT and QUAYSIDE_ROUTER_TLS_PORT, all three/

test('own router: a used port is named with all settings that keep HTTPS', () => {
  assert.match(portInUseText(plain), /^Port 80 on 127\.0\.0\.1, .* is in use\. .* set QUAYSIDE_ROUTER_PORT to another/)
  assert.match(portInUseText(secure), /^Port 80 or 443 on 0\.0\.0\.0, .* is in use\. /)
  assert.match(portInUseText(secure), allThree)
})

test('own router: a forbidden port is named with the setting of the kernel that allows it', () => {
  assert.match(portForbiddenText(plain), /port 80\. .*ip_unprivileged_port_start=80, or set QUAYSIDE_ROUTER_PORT to/)
  assert.match(portForbiddenText(secure), /port 80 or 443\. .*ip_unprivileged_port_start=80, or set ports from 1024/)
  assert.match(portForbiddenText(secure), allThree)
  assert.match(portForbiddenText({ host: '::', port: 8080, tls: { port: 443 } }), /port_start=443,/)
})
