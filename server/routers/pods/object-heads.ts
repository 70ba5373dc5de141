import type { RouterObjectSetting } from './router-objects.ts'

/** Returns the members that all objects of the routers have. */
export const heads = (
  { namespace, labels }: Pick<RouterObjectSetting, 'namespace' | 'labels'>,
  apiVersion: string,
  kind: string,
  name: string,
) => ({
  apiVersion,
  kind,
  metadata: { name, namespace, labels },
})
