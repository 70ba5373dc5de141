import { ShownOnce } from '../../ui/ShownOnce.tsx'

interface InvitationLinkProps {
  readonly invitation: { readonly email: string; readonly invitation_link: string }
  readonly onClose: () => void
}

/** The link that a person passes on, since the platform sends no mail. */
export const InvitationLink = ({ invitation: { email, invitation_link: link }, onClose }: InvitationLinkProps) => (
  <ShownOnce
    title={`Invitation of ${email}`}
    label="Link"
    value={link}
    hint={`No mail is sent. Send this link to ${email}; it is valid for seven days and for one account.`}
    onClose={onClose}
  />
)
