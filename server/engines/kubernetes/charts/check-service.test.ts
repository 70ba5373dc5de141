import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOfObjects } from './check-objects.ts'
import { readRendered } from './read-rendered.ts'

const names = [
  'v1/Service',
  'v1/Endpoints',
  'discovery.k8s.io/v1/EndpointSlice',
  'discovery.k8s.io/v1beta1/EndpointSlice',
]
const kinds = { version: 'v1.34.0', apiVersions: [], isNamespaced: new Map(names.map((name) => [name, true])) }

/** Returns why a rendered chart is refused, or nothing. */
function refusal(text: string, isClusterWide = false): string {
  const rendered = readRendered(text)
  if ('problem' in rendered) return rendered.problem
  return refusalOfObjects(rendered.objects, { kinds, namespace: 'own', isClusterWide }) ?? ''
}
const service = (spec: string, name = 'web'): string =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const pods = 'selector: {app: web}, ports: [{port: 80}]'

for (const [what, text] of [
  ['without a type', service(`{${pods}}`)],
  ['of the type ClusterIP', service(`{type: ClusterIP, ${pods}}`)],
  ['whose values are null or empty', service(`{type: null, externalIPs: null, externalName: null, ${pods}}`)],
  ['whose type is an empty string', service(`{type: "", externalIPs: [], externalName: "", ${pods}}`)],
  ['without an address of its own', service(`{clusterIP: None, publishNotReadyAddresses: true, ${pods}}`)],
  [
    'with unset options of other types',
    service(`{loadBalancerIP: null, ports: [{port: 80, nodePort: null}], selector: {app: web}}`),
  ],
  ['of a key __proto__', service(`{__proto__: {type: NodePort}, ${pods}}`)],
] as const) {
  test(`a Service ${what} is installed`, () => assert.equal(refusal(text), ''))
}

const refused: readonly (readonly [string, string, RegExp])[] = [
  [
    'of the type NodePort',
    service(`{type: NodePort, ${pods}}`),
    /^Service "web" is of the type "NodePort".*set its type to ClusterIP.*"ports"/,
  ],
  ['of the type LoadBalancer', service(`{type: LoadBalancer, ${pods}}`), /is of the type "LoadBalancer"/],
  ['of a type in another case', service(`{type: nodeport, ${pods}}`), /is of the type "nodeport"/],
  ['of a type with a space', service(`{type: "NodePort ", ${pods}}`), /is of the type "NodePort "/],
  ['of a type that is not a string', service(`{type: [NodePort], ${pods}}`), /is of the type \["NodePort"\]/],
  ['of a type of a later Kubernetes', service(`{type: Next, ${pods}}`), /is of the type "Next"/],
  ['whose last type is NodePort', service(`{type: ClusterIP, type: NodePort, ${pods}}`), /is of the type "NodePort"/],
  ['of the type ExternalName', service('{type: ExternalName, externalName: db.example}'), /leads to another host name/],
  ['of the type ExternalName with a selector', service(`{type: ExternalName, ${pods}}`), /leads to another host name/],
  ['with externalName alone', service(`{externalName: db.example, ${pods}}`), /leads to another host name/],
  ['with externalIPs', service(`{externalIPs: [192.0.2.1], ${pods}}`), /claims addresses by externalIPs/],
  [
    'whose externalIPs are not a list',
    service(`{externalIPs: {a: 192.0.2.1}, ${pods}}`),
    /claims addresses by externalIPs/,
  ],
  ['without a selector', service('{ports: [{port: 80}]}'), /has no selector of pods/],
  ['with an empty selector', service('{selector: {}, ports: [{port: 80}]}'), /has no selector of pods/],
  ['whose selector is null', service('{selector: null}'), /has no selector of pods/],
  ['whose labels are all null', service('{selector: {app: null}}'), /has no selector of pods/],
  [
    'whose selector is removed by an upgrade',
    service('{selector: {app: web, $patch: delete}}'),
    /has no selector of pods/,
  ],
  ['whose selector is a list', service('{selector: [app]}'), /has no selector of pods/],
  [
    'whose selector belongs to its prototype',
    service('{__proto__: {selector: {app: web}}}'),
    /has no selector of pods/,
  ],
  ['without a spec', 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n', /has no selector of pods/],
  [
    'that is a hook',
    service(`{type: NodePort, ${pods}}`).replace(
      '{name: web}',
      '{name: web, annotations: {helm.sh/hook: pre-install}}',
    ),
    /is of the type "NodePort"/,
  ],
  [
    'that takes its type from an anchor',
    service(`{sessionAffinityConfig: &open NodePort, type: *open, ${pods}}`),
    /is of the type "NodePort"/,
  ],
  [
    'that merges its type from an anchor',
    service(`\n  <<: {type: NodePort}\n  selector: {app: web}`),
    /is of the type "NodePort"/,
  ],
  ['in a later document', `${service(`{${pods}}`)}---\n${service(`{type: NodePort, ${pods}}`, 'b')}`, /^Service "b"/],
  [
    'in a List',
    `kind: List\nitems: [{apiVersion: v1, kind: Service, metadata: {name: in}, spec: {type: NodePort, ${pods}}}]\n`,
    /^Service "in" is of the type "NodePort"/,
  ],
  [
    'in a ServiceList',
    `apiVersion: v1\nkind: ServiceList\nmetadata: {name: l}\nitems: [{metadata: {name: in}, spec: {type: NodePort}}]\n`,
    /does not have/,
  ],
  [
    'of a kind in another case',
    service(`{type: NodePort, ${pods}}`).replace('kind: Service', 'kind: service'),
    /does not have/,
  ],
]
for (const [what, text, message] of refused) {
  test(`a Service ${what} is refused with advice`, () => assert.match(refusal(text), message))
}

for (const [kind, version] of [
  ['Endpoints', 'v1'],
  ['EndpointSlice', 'discovery.k8s.io/v1'],
  ['EndpointSlice', 'discovery.k8s.io/v1beta1'],
] as const) {
  const text = `apiVersion: ${version}\nkind: ${kind}\nmetadata: {name: e}\n`
  test(`${kind} of ${version} need a trusted chart`, () => {
    assert.match(refusal(text), new RegExp(`^${kind} "e" leads traffic to addresses that it names`))
    assert.equal(refusal(text, true), '')
  })
}

test('a trusted chart opens addresses', () => {
  for (const spec of [`{type: NodePort, ${pods}}`, '{type: ExternalName, externalName: a.example}', '{}']) {
    assert.equal(refusal(service(spec), true), '')
  }
})
