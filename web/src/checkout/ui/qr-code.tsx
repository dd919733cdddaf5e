import type { QrShape } from '../../shared/qr.ts';

interface QrCodeProps {
  /** The QR code. Null while it is being generated. */
  readonly qr: QrShape | null;
  /** The accessible name of the code. */
  readonly label: string;
  readonly hint?: string;
}

/** A QR code. It is hidden on phones, which cannot scan their own screen. */
export function QrCode({ qr, label, hint }: QrCodeProps) {
  return (
    <figure className="qr on-desk">
      {qr === null ? (
        <div className="qr-code qr-blank" />
      ) : (
        <svg className="qr-code" viewBox={`0 0 ${qr.size} ${qr.size}`} role="img" aria-label={label}>
          <path d={qr.path} />
        </svg>
      )}
      {hint !== undefined && <figcaption className="small">{hint}</figcaption>}
    </figure>
  );
}
