/** Media types of manifests that we write. */
export const manifestType = 'application/vnd.oci.image.manifest.v1+json'
export const configType = 'application/vnd.oci.image.config.v1+json'
/** Layers are sent as Docker stores them, because their digests are known before they are read. */
export const layerType = 'application/vnd.oci.image.layer.v1.tar'
