import type { OperationName } from '../../../contract/contract.ts'
import { issued } from '../../support/issued.ts'
import type { Good } from '../requests.ts'

const settings: Good = { body: { 'network.ingress.proxy_body_size_mb': 20, 'network.ingress.enable_cors': true } }
/** Nothing here runs charts and stacks, so their settings may be sent unchanged. */
const idle: Good = { body: { 'deployment.custom_domain_check_enabled': true } }
const task: Good = { body: { 'build.timeout_max_sec': 900, 'security.read_only_root_filesystem': true } }
const stack: Good = { body: { 'build.timeout_max_sec': 1800 } }
const network: Good = { body: { sticky_session: true } }
const newRestriction: Good = { body: { mode: 'EXCLUDE', type: 'PATH', value: 'docs/' } }
const restriction: Good = { body: { mode: 'MATCH', type: 'PATH', value: 'lib/' } }

/** A request with a domain that nothing else has at that moment. */
const domain = (name: string): Good => ({
  body: { domain: name, generate_certificate: true, use_cdn: true },
  prepare: async ({ database }) => {
    await database`delete from custom_domain where domain = ${name}`
    return undefined
  },
})

const upload = { chain: issued.cert + issued.intermediate, private_key: issued.key }

/** A request for a domain of a kind of service with a name that the certificate covers. */
const certified = (kind: 'application' | 'container' | 'helm', isUploaded: boolean): Good => ({
  ...(!isUploaded && { body: upload }),
  prepare: async ({ database, rooms }, { applicationId, more }) => {
    const id = more[`${kind}.customDomainId`] ?? ''
    await database`update custom_domain set domain = ${`d${id.slice(-12)}.shops.example.org`} where id = ${id}`
    if (isUploaded) await rooms.uploads.upload(more[`${kind}Id`] ?? applicationId, id, upload)
    return undefined
  },
})

const annotations: Good = {
  body: { name: 'Owners', annotations: [{ key: 'example.com/owner', value: 'Shop team' }], scopes: ['PODS', 'JOBS'] },
}
const labels: Good = {
  body: { name: 'Teams', labels: [{ key: 'team', value: 'shop', propagate_to_cloud_provider: false }] },
}

/** Creates a group that nothing uses. */
const unused = (kind: 'annotations' | 'labels'): Good => ({
  prepare: async ({ rooms }, { organizationId, more }) => {
    const { id } = await rooms.groups.create(organizationId, kind, { name: `unused ${kind}`, entries: [], scopes: [] })
    return { more: { ...more, [`${kind}GroupId`]: id } }
  },
})

export const parts: Partial<Record<OperationName, Good>> = {
  editAdvancedSettings: settings,
  editContainerAdvancedSettings: settings,
  editHelmAdvancedSettings: idle,
  editJobAdvancedSettings: task,
  editTerraformAdvancedSettings: stack,
  editApplicationNetwork: network,
  editContainerNetwork: network,
  createApplicationDeploymentRestriction: newRestriction,
  createHelmDeploymentRestriction: newRestriction,
  createJobDeploymentRestriction: newRestriction,
  createTerraformDeploymentRestriction: newRestriction,
  editApplicationDeploymentRestriction: restriction,
  editHelmDeploymentRestriction: restriction,
  editJobDeploymentRestriction: restriction,
  editTerraformDeploymentRestriction: restriction,
  createApplicationCustomDomain: domain('new.example.net'),
  createContainerCustomDomain: domain('*.container.example.net'),
  createHelmCustomDomain: domain('helm.example.net'),
  editCustomDomain: domain('other.example.net'),
  editContainerCustomDomain: domain('other.container.example.net'),
  editHelmCustomDomain: domain('*.helm.example.net'),
  uploadApplicationCustomDomainCertificate: certified('application', false),
  uploadContainerCustomDomainCertificate: certified('container', false),
  uploadHelmCustomDomainCertificate: certified('helm', false),
  deleteApplicationCustomDomainCertificate: certified('application', true),
  deleteContainerCustomDomainCertificate: certified('container', true),
  deleteHelmCustomDomainCertificate: certified('helm', true),
  createOrganizationAnnotationsGroup: annotations,
  editOrganizationAnnotationsGroup: { body: { ...Object(annotations.body), name: 'Other owners' } },
  deleteOrganizationAnnotationsGroup: unused('annotations'),
  createOrganizationLabelsGroup: labels,
  editOrganizationLabelsGroup: { body: { ...Object(labels.body), name: 'Other teams' } },
  deleteOrganizationLabelsGroup: unused('labels'),
}
