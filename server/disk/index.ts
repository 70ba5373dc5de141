/**
 * Disk space of images, build caches, volumes and logs. It is measured regularly, and unneeded
 * space is freed.
 */
export { isOpenTo, keptImages, noteFetched, noteOwner } from './disk-store.ts'
export { forgetFullVolume } from './full-volume-store.ts'
export { createDiskKeeper, type DiskKeeper } from './keeper.ts'
export { createOrganizationDisk, type OrganizationDisk } from './organization-disk.ts'
export { type Disks, joinDisks } from './reconcilers.ts'
