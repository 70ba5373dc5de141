import { createHash } from 'node:crypto'

/**
 * @typedef {{ name: string, version: string, architecture: string }} DebianPackage
 * @typedef {{ components?: { purl?: string }[], dependencies?: unknown[], metadata?: object }} Bom
 */

/**
 * Pure: returns the bill of materials of an image (CycloneDX): what npm lists, Node.js and the
 * packages of Debian. It is equal for equal content, so time and random number of npm are left out.
 * @param {Bom} npm
 * @param {object} image
 * @param {string} image.name
 * @param {string} image.version
 * @param {string} image.node
 * @param {readonly { name: string, version: string }[]} image.programs
 * @param {readonly DebianPackage[]} image.debian
 */
export function billOfMaterials(npm, { name, version, node, programs, debian }) {
  const own = (npm.components ?? []).filter(({ purl = '' }) => !leftOut.test(purl))
  const components = [
    ...own,
    component('application', 'node', node, `pkg:generic/node@${node}`),
    ...programs.map((one) => component('application', one.name, one.version, `pkg:generic/${one.name}@${one.version}`)),
    ...debian.map((one) => component('library', one.name, one.version, debianUrl(one))),
  ]
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component('container', name, version, `pkg:oci/${name.split('/').at(-1)}@${version}`) },
    components,
  }
  return { ...bom, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(bom))}` }
}

/** @param {DebianPackage} one */
const debianUrl = ({ name, version, architecture }) =>
  `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`

/** Packages that npm lists as optional and that the image does not have. */
const leftOut = /\/(?:node-linux-|%40embedded-postgres\/)/

/**
 * @param {string} type
 * @param {string} name
 * @param {string} version
 * @param {string} purl
 */
const component = (type, name, version, purl) => ({ type, 'bom-ref': purl, name, version, purl })

/** @param {string} text */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
