import mark from '../style/mark.svg'

/** The mark of the product, beside a name. */
export const Mark = () => <img src={mark} alt="" width={22} height={22} />
