import type { Furnished, Texts } from './furnish.ts'

/**
 * Every page of the console: its route and its heading. In a heading, `{project name}` is the text
 * of that field, `{service name}` the name of a service and `{noun}` the word for its kind.
 */
export const pages: Readonly<Record<string, string | PageOfKinds>> = {
  '/organizations/$organizationId': 'Projects',
  '/organizations/$organizationId/projects/$projectId/variables': '{project name}',
  '/organizations/$organizationId/projects/$projectId/rules': '{project name}',
  '/organizations/$organizationId/projects/$projectId/settings': '{project name}',
  '/organizations/$organizationId/environments/$environmentId': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/deployments': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/variables': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/stages': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/hours': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/rules': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/settings': '{environment name}',
  '/organizations/$organizationId/environments/$environmentId/new': 'New service in {environment name}',
  '/organizations/$organizationId/environments/$environmentId/new/$kind': 'New {noun} in {environment name}',
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId': '{service name}',
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/variables': {
    heading: '{service name}',
    except: ['database'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/settings': '{service name}',
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/lines': '{service name}',
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/metrics': {
    heading: '{service name}',
    except: ['terraform'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/shell': {
    heading: '{service name}',
    except: ['job', 'terraform'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/domains': {
    heading: '{service name}',
    except: ['database', 'job', 'terraform'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/deployments': '{service name}',
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/runs': {
    heading: '{service name}',
    except: ['application', 'container', 'database', 'helm', 'terraform'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/backups': {
    heading: '{service name}',
    except: ['application', 'job', 'helm', 'terraform'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/values': {
    heading: '{service name}',
    except: ['application', 'container', 'database', 'job', 'terraform'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/advanced': {
    heading: '{service name}',
    except: ['database'],
  },
  '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/stack': {
    heading: '{service name}',
    except: ['application', 'container', 'database', 'job', 'helm'],
  },
  '/organizations/$organizationId/settings/clusters': 'Clusters',
  '/organizations/$organizationId/settings/clusters/$clusterId': 'local',
  '/organizations/$organizationId/settings/clusters/$clusterId/advanced': 'Advanced settings of local',
  '/organizations/$organizationId/settings/general': 'Organization',
  '/organizations/$organizationId/settings/members': 'Members',
  '/organizations/$organizationId/settings/roles': 'Roles',
  '/organizations/$organizationId/settings/roles/$roleId': '{role name}',
  '/organizations/$organizationId/settings/api-tokens': 'API tokens',
  '/organizations/$organizationId/settings/git-tokens': 'Git tokens',
  '/organizations/$organizationId/settings/git-webhooks': 'Git webhooks',
  '/organizations/$organizationId/settings/registries': 'Container registries',
  '/organizations/$organizationId/settings/helm-repositories': 'Helm repositories',
  '/organizations/$organizationId/settings/groups': 'Labels and annotations',
  '/organizations/$organizationId/settings/webhooks': 'Webhooks',
  '/organizations/$organizationId/settings/webhooks/$webhookId': 'http://127.0.0.1:9/{webhook address}',
  '/organizations/$organizationId/settings/audit': 'Audit log',
  '/organizations/$organizationId/settings/account': 'Your account',
}

/** Routes that lead to another page at once. */
export const redirects: readonly string[] = ['/', '/login/auth0-callback', '/organizations/$organizationId/settings']

/** A page that some kinds of service do not have. */
interface PageOfKinds {
  readonly heading: string
  readonly except: readonly string[]
}

const nouns: Readonly<Record<string, string>> = { helm: 'helm chart', terraform: 'terraform stack' }

/** A page of the furnished organization. */
export interface PageOfTable {
  readonly route: string
  /** Without the origin. */
  readonly address: string
  readonly heading: string
}

/** Lists every page. A page with a kind of service in its address is listed once for each kind. */
export const listPages = (furnished: Furnished, text: Texts): readonly PageOfTable[] =>
  Object.entries(pages).flatMap(([route, given]) => {
    const { heading, except } = typeof given === 'string' ? { heading: given, except: [''] } : given
    const kinds = route.includes('$kind') ? Object.keys(furnished.services) : ['application']
    return kinds
      .filter((kind) => !except.includes(kind))
      .map((kind) => ({
        route,
        address: addressOf(route, furnished, kind),
        heading: heading.replaceAll(/\{([^}]+)\}/g, (_, field: string) => {
          if (field === 'noun') return nouns[kind] ?? kind
          const written = text(field.replace('service', kind))
          return field === 'webhook address' ? encodeURIComponent(written) : written
        }),
      }))
  })

/** Returns the address of a page, without the origin. `kind` is the kind of its service. */
function addressOf(route: string, furnished: Furnished, kind: string): string {
  const ids: Readonly<Record<string, unknown>> = { ...furnished, kind, serviceId: furnished.services[kind] }
  return route.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const id = ids[name]
    if (typeof id !== 'string') throw new Error(`${route}: the furnished organization has no ${name}`)
    return id
  })
}
