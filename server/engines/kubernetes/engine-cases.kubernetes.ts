import { engineCases } from '../engine.cases.ts'
import { openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()

engineCases('kubernetes', () => openKubernetesBench({ image: image.reference() }))
