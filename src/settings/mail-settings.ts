import { integer } from './kinds.ts';
import { mailAddresses, mailSender, smtpUrl } from './mail-kinds.ts';
import { setting } from './setting.ts';

export const MAIL_SETTINGS = {
  smtp: setting(
    'SMTP_URL',
    smtpUrl(),
    undefined,
    'The server that takes mail. `smtp://` means STARTTLS, `smtps://` TLS from the start. To other hosts nothing is sent in plain text, unless the URL ends with `?tls=optional`; to this host `smtp://` uses no TLS.',
    'none: no mail is sent, and everything works by links',
  ),
  mailFrom: setting('MAIL_FROM', mailSender(), undefined, 'The sender of mails. Needed with `SMTP_URL`.', 'none'),
  alertEmails: setting(
    'ALERT_EMAILS',
    mailAddresses(),
    [],
    'Comma-separated addresses that get a mail when an alert is raised, and one when it is over.',
    'none',
  ),
  mailsKeptDays: setting(
    'MAILS_KEPT_DAYS',
    integer(2, 3_650),
    30,
    'Days after which the records of mails that are over are removed, with the addresses of payers who asked for a receipt. The content of a mail is erased when it is sent.',
  ),
} as const;
