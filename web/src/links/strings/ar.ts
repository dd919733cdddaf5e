import type { Strings } from './en.ts';

export const ar: Strings = {
  amountLabel: 'المبلغ بعملة {currency}',
  bounds: 'من {minimum} إلى {maximum}',
  badAmount: 'أدخل مبلغًا من {minimum} إلى {maximum} بدون فواصل الآلاف: 1000 أو 1.0، وليس 1.000.',
  continueTo: 'المتابعة إلى الدفع',
  note: 'لا يُخصم أي شيء في هذه الصفحة. سترى المبلغ مرة أخرى قبل الدفع.',
  left: 'المتبقي: {count}',
  soldOutTitle: 'نفدت الكمية',
  soldOutText: 'تم دفع كل القطع أو يجري دفعها الآن. حاول مرة أخرى بعد بضع دقائق.',
  expiredTitle: 'انتهت صلاحية هذا الرابط',
  inactiveTitle: 'هذا الرابط لا يقبل الدفع',
  closedText: 'اطلب رابطًا جديدًا من المتجر.',
  merchantTitle: 'المتجر لا يقبل الدفع حاليًا',
  merchantText: 'حاول لاحقًا أو اسأل المتجر.',
  notFoundTitle: 'هذا الرابط غير موجود',
  notFoundText: 'تحقق من العنوان أو اطلب رابطًا جديدًا من المتجر.',
  busyTitle: 'بدأ هنا عدد كبير جدًا من عمليات الدفع',
  busyText: 'انتظر بضع دقائق ثم حاول مرة أخرى. لا يُخصم أي شيء في هذه الصفحة.',
  unavailableTitle: 'صفحة الدفع غير متاحة الآن',
  unavailableText: 'حاول مرة أخرى بعد لحظات. لا يُخصم أي شيء في هذه الصفحة.',
};
