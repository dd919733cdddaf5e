interface PolicyInput {
  readonly frameOrigins?: readonly string[];
  /** The origin of the relay for wallets that are paired by a code, on pages that offer pairing. */
  readonly relayOrigin?: string | undefined;
  readonly formAction?: string;
}

/**
 * The content security policy of a page: nothing inline, nothing from another origin except the relay of paired wallets.
 * `data:` pictures are allowed, because wallets announce their icons with such URLs. The public origin is named beside
 * `'self'`, because the page may have been opened by another name of this machine.
 */
export function pageHeaders(
  { publicUrl }: { readonly publicUrl: string },
  { frameOrigins = [], relayOrigin, formAction = "'none'" }: PolicyInput = {},
): Readonly<Record<string, string>> {
  const ancestors = frameOrigins.length === 0 ? "'none'" : frameOrigins.join(' ');
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      `img-src 'self' data: ${publicUrl}`,
      `connect-src 'self'${relayOrigin === undefined ? '' : ` ${relayOrigin}`}`,
      "manifest-src 'self'",
      "base-uri 'none'",
      `form-action ${formAction}`,
      `frame-ancestors ${ancestors}`,
    ].join('; '),
    // For browsers without `frame-ancestors`. `X-Frame-Options` cannot list origins, so it is omitted if some origins may embed the
    // page.
    ...(frameOrigins.length === 0 && { 'X-Frame-Options': 'DENY' }),
    // The page's address is a capability to pay and to cancel, so no referrer is sent to other sites.
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  };
}
