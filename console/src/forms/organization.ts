import type { FieldSpec } from './fields.ts'

const name: FieldSpec = { path: 'name', label: 'Name', type: 'text', isRequired: true }
const description: FieldSpec = { path: 'description', label: 'Description', type: 'text' }

/** The form of a new organization. */
export const newOrganizationFields: readonly FieldSpec[] = [name, description]

/** The form of an organization. */
export const organizationFields: readonly FieldSpec[] = [
  name,
  description,
  { path: 'website_url', label: 'Website', type: 'text', placeholder: 'https://example.org' },
  { path: 'repository', label: 'Repository', type: 'text' },
  { path: 'logo_url', label: 'Logo', type: 'text', hint: 'The address of an image.' },
  { path: 'icon_url', label: 'Icon', type: 'text', hint: 'The address of an image.' },
  { path: 'admin_emails', label: 'Addresses of administrators', type: 'words', hint: 'One a line.' },
]
export const organizationNames = organizationFields.map(({ path }) => path)
