/** What clouds offer, as tables: regions, machines, databases, features of clusters. Nothing here asks anybody. */
export {
  type InstanceFilter,
  listDatabaseInstanceTypes,
  listDatabaseTypes,
  listFeatures,
  listInstanceTypes,
  listProviders,
  listRegions,
} from './catalogue.ts'
export { type Feature, type FeatureType, featureRecord, findFeature } from './features.ts'
