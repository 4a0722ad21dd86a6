import type { Texts } from './english.ts';

export const VIETNAMESE: Texts = {
  languageTag: 'vi',
  description: 'Giúp tải nhanh từ nơi xa: một chuỗi kết nối ngắn thay cho một kết nối dài.',
  you: 'bạn',
  origin: 'máy chủ gốc',
  actionOf: '{action}: {name}',

  stateReady: 'Sẵn sàng. Tệp ở xa đi qua các trạm trung chuyển khi cách đó nhanh hơn.',
  stateRunning: 'Số tệp đang tải qua trạm trung chuyển: {count}',
  stateOff: 'Đang tắt. Mọi tệp đều tải trực tiếp.',
  stateNotYet: 'Không có gì bị chuyển hướng trước khi bạn đồng ý.',
  stateNoMaster: 'Còn một bước: Longhaul cần một máy chủ điều phối.',
  stateNoAccess: 'Trình duyệt không cho Longhaul thấy hết các tệp tải về.',
  stateTrouble: 'Có một tệp đang chờ bạn.',

  on: 'Bật',
  off: 'Tắt',
  switchName: 'Bật Longhaul',
  welcomeNotice: 'Ba màn hình ngắn cho biết Longhaul làm gì và ai biết được điều gì. Sau đó bạn quyết định.',
  welcomeOpen: 'Bắt đầu',
  masterNotice: 'Hãy nhập địa chỉ máy chủ điều phối của bạn, và tệp ở xa sẽ tải nhanh hơn.',
  masterSet: 'Nhập máy chủ điều phối',
  accessNotice:
    'Chỉ khi được truy cập các địa chỉ web, Longhaul mới thấy trang web nói gì về một tệp và mới hỏi được trạm trung chuyển. Nơi nào chưa được phép, tệp vẫn tải như bình thường.',
  accessAllow: 'Cho phép',
  options: 'Tùy chọn',

  runningTitle: 'Đang tải',
  runningNone: 'Hiện không có tệp nào đi qua trạm trung chuyển.',
  doneTitle: 'Đã xong',
  leftTitle: 'Để trình duyệt tự tải',
  clear: 'Xóa',
  progressOf: 'Tiến độ của {name}',
  amountOf: '{received} trên {total} ({percent})',
  timeLeft: 'còn khoảng {time}',
  nothingComes: 'hiện chưa có dữ liệu nào đến',
  beginning: 'đang bắt đầu',
  directlyAbout: 'tải trực tiếp khoảng {time}',
  cameDirect: 'Không trạm nào tiếp tục: tệp được tải trực tiếp.',
  choseDirect: 'Tệp được tải trực tiếp, như bạn đã chọn.',
  chainNow: 'Chuỗi trạm, theo số đo của chính các trạm lúc này',
  chainPlanned: 'Chuỗi trạm, theo kế hoạch',
  legSpoken: 'từ {from} đến {to}: {rate}, khứ hồi {rtt}',
  legQuiet: 'từ {from} đến {to}: khứ hồi {rtt}',
  slowestLeg: 'chặng chậm nhất',
  useDirect: 'Tải trực tiếp',
  anotherPath: 'Đường khác',
  showFile: 'Mở thư mục chứa tệp',
  tryNow: 'Thử ngay',
  goOn: 'Tiếp tục',
  anewDirectly: 'Tải lại từ đầu, trực tiếp',
  leadAnew: 'Trong trình duyệt này, tệp sẽ tải lại từ byte đầu tiên. Hãy bấm lần nữa nếu bạn muốn vậy.',
  noOtherPath: 'Hiện không có đường nào khác. Tệp vẫn tải tiếp như trước.',
  noDirect: 'Hiện trang web không cho tải trực tiếp phiên bản này của tệp. Tệp vẫn tải tiếp như trước.',
  doneIn: '{size} trong {time}',
  donePredicted: 'dự đoán {time}',
  doneDirectly: 'Cuối cùng tệp đã được tải trực tiếp.',
  directMeasured: 'Thời gian tải trực tiếp được tính từ các đường truyền đã đo.',
  directConfigured:
    'Thời gian tải trực tiếp được tính từ các số liệu do người vận hành máy chủ điều phối nhập.',
  directDerived: 'Thời gian tải trực tiếp được ghép từ số liệu của các đường truyền khác.',
  directAssumed: 'Thời gian tải trực tiếp là giả định: chưa đo được gì trên đường đó.',
  veryLong: 'rất lâu',

  haltNetworkAway: 'Mạng đã bị ngắt.',
  haltBroke: 'Kết nối đã bị đứt.',
  haltRefused: 'Trạm trung chuyển hoặc trang web đã từ chối.',
  haltBrowserEnded: 'Trình duyệt đã đóng.',
  haltNoRoom: 'Ổ đĩa không còn chỗ trống.',
  haltNoAccess: 'Trình duyệt không được phép ghi vào đó.',
  haltForbidden: 'Trình duyệt, hoặc người quản lý, cấm tệp này.',
  haltNoWrite: 'Trình duyệt không ghi được tệp.',
  haltSilent: 'Suốt một phút không có dữ liệu nào đến.',
  haltOtherFile: 'Nội dung khác đã đến thay cho tệp, có thể từ một mạng yêu cầu đăng nhập.',
  haltOtherVersion: 'Trang web hiện có phiên bản khác của tệp.',
  nextPaused: 'Đã tạm dừng.',
  nextChecked:
    'Đã nhận đủ tệp: trình duyệt đang kiểm tra, hoặc hỏi bạn trong danh sách tải xuống có giữ tệp hay không.',
  nextLost: 'Không thể bắt đầu lại.',
  nextClick: 'Phần đã lưu vẫn được giữ: hãy nhấp để tiếp tục.',
  nextStuck: 'Phần đã lưu vẫn được giữ: hãy giải phóng chỗ trống rồi nhấp để tiếp tục.',
  nextTryIn: 'Phần đã lưu vẫn được giữ; sẽ thử lại sau {time}.',
  nextTryNow: 'Phần đã lưu vẫn được giữ; đang thử lại.',

  cameDirectly: '{name} đã được tải trực tiếp.',
  someDownload: 'Tệp tải gần nhất',
  said: 'Câu trả lời là: {words}',
  leftContainer:
    'Tệp thuộc một thẻ ngăn chứa mà Longhaul không có cookie. Hãy mở liên kết trong một thẻ thường.',
  leftPrivateHost:
    'Máy chủ của tệp là máy nội bộ. Hãy cho phép máy đó trong phần tùy chọn nếu các trạm được lấy tệp từ đó.',
  leftPrivateAddress:
    'Máy chủ của tệp, proxy hoặc VPN của bạn có địa chỉ nội bộ trong mạng này. Hãy cho phép máy đó trong phần tùy chọn nếu các trạm được lấy tệp từ đó.',
  leftSiteOff: 'Bạn không muốn gì từ trang của tệp đi qua trạm. Danh sách các trang nằm trong phần tùy chọn.',
  leftSmall: 'Tệp nhỏ và tải trực tiếp cũng nhanh như vậy. Cỡ nhỏ nhất nằm trong phần tùy chọn.',
  leftNoAccess:
    'Longhaul chưa được phép truy cập hết các trang web, máy chủ điều phối và trạm trung chuyển. Hãy cho phép trong cửa sổ bật lên.',
  leftUnseen:
    'Trình duyệt không cho thấy tệp đã được yêu cầu thế nào. Hãy dùng “Tải qua Longhaul” trong menu của liên kết.',
  leftPost: 'Tệp là câu trả lời cho một biểu mẫu, chỉ có thể gửi một lần.',
  leftSavedAs:
    'Bạn đã chọn nơi lưu và lựa chọn đó được giữ nguyên. Hãy dùng “Tải qua Longhaul” trong menu của liên kết để lưu vào thư mục tải về.',
  leftPersonal: 'Trang web tạo tệp này riêng cho bạn: các trạm không có thông tin đăng nhập của bạn.',
  leftEncoded: 'Trang web nén tệp trên đường truyền nên không thể tải tiếp khi bị ngắt.',
  leftNoRanges: 'Trang web không cho tải tiếp nên không thể sửa gì trên đường đi.',
  leftNoVersion:
    'Trang web không cho biết đây là phiên bản nào của tệp nên không thể ghép các phần một cách an toàn.',
  leftMasterSilent: 'Máy chủ điều phối không trả lời kịp. Hãy kiểm tra nó trong phần tùy chọn.',
  leftMasterRefused: 'Máy chủ điều phối đã từ chối.',
  leftNoMasterThere:
    'Nơi trả lời ở địa chỉ đó không phải máy chủ điều phối. Hãy kiểm tra địa chỉ trong phần tùy chọn.',
  leftMasterElsewhere:
    'Máy chủ điều phối tự xưng bằng một địa chỉ khác với địa chỉ trong phần tùy chọn. Hãy kiểm tra ở đó để biết địa chỉ nào.',
  leftPlanUnfit:
    'Kế hoạch của máy chủ điều phối dẫn đến nơi khác nên không được dùng. Hãy báo cho người vận hành.',
  leftDirectIsBest: 'Không chuỗi trạm nào nhanh hơn cho tệp này. Bạn không cần làm gì.',
  leftInsecureChain:
    'Chuỗi trạm sẽ làm mất mã hóa. Người vận hành máy chủ điều phối có thể cấp chứng chỉ cho các trạm.',
  leftDepotSilent: 'Trạm trung chuyển không trả lời kịp. Thử lại có thể gặp trạm tốt hơn.',
  leftDepotRefused: 'Trạm trung chuyển không lấy được tệp.',
  leftDifferentFile: 'Trạm trung chuyển nhận được phiên bản khác với trình duyệt của bạn.',
  leftFinished: 'Tệp đã tải xong trước đó.',
  leftWarned: 'Trình duyệt của bạn cảnh báo về tệp này.',
  leftNearlyDone: 'Tệp đã gần tải xong.',

  leftKeyHeld: 'Bạn đã giữ phím để trình duyệt tự tải. Phần tùy chọn cho biết đó là phím nào.',
  leftKind: 'Bạn không muốn loại tệp này đi qua trạm trung chuyển. Các loại tệp nằm trong phần tùy chọn.',
  leftNoRoom:
    'Trình duyệt không còn chỗ để ghi nhớ tệp này. Hãy xóa danh sách phía trên hoặc giải phóng chỗ trống trên đĩa.',
  siteOn: 'Trên {site}',
  siteUsual: 'theo quy tắc',
  siteAlways: 'luôn qua trạm',
  siteNever: 'không bao giờ',
  siteTunnel: 'qua đường hầm',
  leftTunnel: 'Trang của tệp đi qua đường hầm: trình duyệt tự hỏi trang đó.',
  leftNotHttps: 'Chỉ https mới đi qua đường hầm được.',
  leftSocks: 'Trang của tệp đi qua proxy SOCKS của bạn.',
  leftDepotTaken:
    'Các trạm gần bạn là đường hầm của trang khác. Trong Chromium mỗi trạm chỉ phục vụ một trang cho đến khi đóng trình duyệt.',
  leftSystemProxy:
    'Hệ thống của bạn có vẻ đặt một proxy. Trong Chromium đường hầm sẽ khiến mọi trang không dùng được proxy đó, nên không có đường hầm.',
  tunnelNow: 'Hiện đi qua đường hầm: {chain}. Các trạm không thấy nội dung.',
  tunnelDirect: 'Hiện đi trực tiếp. {why}',
  tunnelNotAllowed:
    'Trình duyệt không cho Longhaul đặt proxy: các trang có đường hầm đi trực tiếp. Hãy chọn lại để được hỏi lại.',
  optionsTunnel: 'Qua đường hầm, kèm đăng nhập của bạn',
  optionsTunnelHint:
    'Toàn bộ trang như vậy đi qua trạm, kèm đăng nhập của bạn, ở nơi nhanh hơn. Cần https. Khi trạm hoặc máy chủ điều phối vắng mặt, trang được tải trực tiếp. Mỗi dòng một trang.',
  optionsTunnelWho:
    'Qua đường hầm, trình duyệt và trang mã hóa như thường lệ: các trạm thấy tên trang, lượng dữ liệu và địa chỉ mạng của bạn, nhưng không thấy nội dung, cookie hay địa chỉ từng trang con. Máy chủ điều phối biết tên trang. Trang thấy địa chỉ của một trạm thay cho địa chỉ của bạn.',
  optionsTunnelHostWide:
    'Chromium có một thiết lập proxy cho mọi trang: khi có đường hầm, không trang nào dùng proxy của hệ thống. Yêu cầu đầu tiên đến một trang đi trực tiếp.',
  slowChanged: 'Đường cũ quá chậm nên đã được đổi.',
  slowNoOther: 'Có lúc chậm hơn dự tính, và không tìm thấy đường nào nhanh hơn.',
  choseElsewhere: 'Tệp được dẫn qua đường khác, như bạn đã chọn.',
  wentOn: 'Số lần đường đứt và tệp vẫn tải tiếp: {count}.',
  beganAgain: 'Số lần tải lại từ byte đầu tiên: {count}.',
  optionsNever: 'Không bao giờ dùng cho các trang này',
  optionsNeverHint:
    'Tệp từ các trang này và mọi tên miền con luôn do trình duyệt tự tải. Mỗi dòng một trang; bảng của nút Longhaul cũng thêm trang của thẻ hiện tại vào đây.',
  optionsAlways: 'Luôn dùng cho các trang này',
  optionsAlwaysHint:
    'Tệp từ các trang này được tải qua trạm dù thuộc loại và cỡ nào, nếu chuỗi trạm nhanh hơn. Mỗi dòng một trang.',
  optionsKinds: 'Loại tệp',
  kindsAll: 'mọi loại',
  kindsOnly: 'chỉ những loại này',
  kindsExcept: 'mọi loại trừ những loại này',
  kindsHint: 'Phần đuôi của tên tệp, cách nhau bằng dấu cách: {examples}.',
  kindsList: 'Phần đuôi tên tệp',
  optionsKey: 'Phím để trình duyệt tự tải',
  optionsKeyHint:
    'Giữ phím trong khi nhấp. Để nhận ra, một đoạn mã nhỏ chạy trong các trang; nó chỉ báo phím đang được giữ, không gì khác.',
  keyNone: 'không có',
  optionsWaste: 'Không lãng phí byte nào',
  optionsWasteHint:
    'Yêu cầu được dẫn đến trạm trước khi trang web gửi bất cứ gì. Khi đó tên trong thuộc tính “download” bị mất, và trong Chromium không thể so sánh với câu trả lời của trang web.',
  optionsWasteOn: 'Dẫn yêu cầu đến trạm ngay lập tức',
  shareTellHint:
    'Máy chủ điều phối lập kế hoạch tốt hơn, cho cả bạn, khi biết kế hoạch của nó thực sự đem lại gì. Nó được cho biết số kế hoạch, số byte và số giây của mỗi lượt tải mà nó đã lập kế hoạch, không có địa chỉ. Tối đa bốn trạm mà nó nêu thấy bạn ở cách bao xa.',
  shareTell: 'Cho máy chủ điều phối biết kết quả các kế hoạch',
  optionsNoRoom: 'Trình duyệt không còn chỗ: không có gì thay đổi.',
  importTooLarge: 'Tệp này lớn hơn mọi danh sách quy tắc. Không có gì thay đổi.',
  importNotJson: 'Tệp này không nguyên vẹn hoặc không phải danh sách quy tắc. Không có gì thay đổi.',
  importNotRules: 'Tệp này không chứa quy tắc của Longhaul. Không có gì thay đổi.',
  importNewer: 'Tệp này do phiên bản Longhaul mới hơn ghi. Không có gì thay đổi.',
  importBadEntry: 'Trong tệp này có chỗ không đúng: {place}. Không có gì thay đổi.',
  problemDamaged: 'Một phần thiết lập đã lưu bị hỏng và nay mang giá trị mặc định. Hãy xem lại và lưu.',
  problemNewer: 'Thiết lập này do phiên bản Longhaul mới hơn ghi: phần mà bản này không biết vẫn được giữ.',
  mistakeSite: '“{line}” không phải là trang web. Hãy viết tên máy, ví dụ downloads.example.org.',
  mistakeKind: '“{kind}” không phải là phần đuôi của tên tệp. Hãy viết ví dụ iso hoặc tar.gz.',

  menuThrough: 'Tải qua Longhaul',
  menuDirectly: 'Tải trực tiếp',

  noticeFailedTitle: 'Có một tệp đang chờ bạn',
  noticeFailed: '{name}: {why}',
  noticeRescuedTitle: 'Đã tải đến cùng',
  noticeRescued: '{name} đã tải trọn vẹn, dù đường truyền từng bị đứt.',
  badgeTrouble: 'Longhaul: có một tệp đang chờ bạn',

  optionsTitle: 'Tùy chọn của Longhaul',
  optionsMaster: 'Máy chủ điều phối',
  optionsMasterHint:
    'Địa chỉ của dịch vụ lập kế hoạch tải cho bạn, do người vận hành cung cấp. Dịch vụ này biết địa chỉ của mọi tệp đủ lớn, nên hãy dùng nơi bạn tin tưởng.',
  optionsTest: 'Kiểm tra',
  optionsAsking: 'Đang hỏi…',
  optionsSmallest: 'Cỡ nhỏ nhất',
  optionsSmallestHint: 'Tệp nhỏ hơn tải trực tiếp cũng nhanh như vậy.',
  optionsPrivate: 'Máy nội bộ được phép',
  optionsPrivateHint:
    'Tệp từ máy nội bộ vẫn tải như bình thường, địa chỉ của chúng không được báo cho máy chủ điều phối và không trạm nào được hỏi ở đó, trừ khi máy ấy có tên ở đây. Mỗi dòng một máy: {examples}.',
  optionsSave: 'Lưu',
  optionsSaved: 'Đã lưu',
  optionsFile: 'Quy tắc dưới dạng tệp',
  optionsFileHint:
    'Những tệp nào được tải qua trạm, để giữ lại hoặc chia sẻ: trang, loại, cỡ và phím. Không gồm máy chủ điều phối và máy nội bộ. Nội dung được đọc sẽ thay thế thiết lập ở đây.',
  optionsExport: 'Ghi ra tệp',
  optionsImport: 'Đọc từ tệp',
  importDone: 'Đã đọc. Các quy tắc nay giống như trong tệp.',
  mistakeMaster: 'Hãy nhập tên máy, ví dụ master.example.org, và không thêm gì phía sau.',
  mistakeSmallest: 'Hãy nhập số megabyte, từ 0 trở lên.',
  mistakePrivate: '“{line}” không phải là tên máy. Hãy viết tên, *.tên hoặc địa chỉ, kèm :cổng nếu cần.',

  shareTitle: 'Gửi gì cho ai',
  shareNothing: 'Cho những người làm ra Longhaul: không gì cả. Không có tài khoản và không ai đếm bạn.',
  shareMaster:
    'Cho máy chủ điều phối của bạn: địa chỉ và cỡ của mỗi tệp đủ lớn, không được đánh dấu là của riêng bạn, khi bắt đầu tải. Không có gì về các trang khác.',
  shareDepots:
    'Cho các trạm của một kế hoạch: địa chỉ của tệp đó và địa chỉ mạng của bạn. Các trạm chuyển tệp nên thấy nội dung, kể cả với https.',
  shareNever:
    'Không gửi cho bên nào: cookie, thông tin đăng nhập, biểu mẫu, cửa sổ riêng tư và những gì trang web tạo riêng cho bạn. Các tệp đó được tải trực tiếp.',
  shareHere:
    'Chỉ lưu trong trình duyệt này: các tùy chọn, danh sách tệp bên dưới và lý do tệp gần nhất được tải trực tiếp.',

  historyTitle: 'Kết quả mang lại',
  historyEmpty: 'Chưa có tệp nào đi qua trạm trung chuyển.',
  historyTotals: '{count} tệp, {size} qua trạm trung chuyển từ {date}.',
  historySaved:
    'Những lượt không tạm dừng mất {time}; tải trực tiếp sẽ mất khoảng {direct}, theo dự đoán của máy chủ điều phối. Không ai đo con số đó.',
  historyErase: 'Xóa danh sách',
  historyColumnFile: 'Tệp',
  historyColumnWhen: 'Khi nào',
  historyColumnSize: 'Cỡ',
  historyColumnTook: 'Đã mất',
  historyColumnDirect: 'Trực tiếp, dự đoán',
  historyBound: 'Danh sách giữ {count} tệp gần nhất; các tổng vẫn tính tiếp.',

  testServes: 'Máy chủ này phục vụ bạn: đã trả lời trong {time}.',
  testNoDepots:
    'Máy chủ này phục vụ bạn nhưng hiện không có trạm nào: tệp vẫn tải trực tiếp cho đến khi có trạm.',
  testSomeOrigins:
    'Máy chủ này trả lời trong {time}. Từ nơi của bạn, nó chỉ phục vụ các trang mà người vận hành đã nêu; hãy hỏi họ nếu thiếu trang nào.',
  testNote: 'Người vận hành cho biết: {note}',
  testName: 'Máy chủ tự xưng là {name}.',
  testDepotsUp: 'Số trạm đang sẵn sàng: {up} trên {all}.',
  testBadAddress:
    'Đây không phải địa chỉ của máy chủ điều phối: hãy nhập tên máy, ví dụ master.example.org, và không thêm gì phía sau.',
  testUnreachable: 'Không có gì trả lời ở đó: hãy kiểm tra địa chỉ và xem máy chủ có đang chạy không.',
  testNoMaster: 'Có nơi trả lời, nhưng không phải như một máy chủ điều phối: hãy kiểm tra địa chỉ.',
  testElsewhere:
    'Máy chủ này tự xưng là {address}: hãy nhập địa chỉ đó, nếu không các liên kết của nó sẽ không được dùng.',
  testRefused: 'Máy chủ điều phối đã từ chối: {message}',

  welcomeTitle: 'Chào mừng đến với Longhaul',
  welcomeStep: '{step} trên {steps}',
  welcomeNext: 'Tiếp',
  welcomeBack: 'Quay lại',
  welcomeWhat: 'Tải nhanh hơn từ nơi xa',
  welcomeWhatWhy:
    'Tải tệp từ nơi xa thường chậm vì mỗi mất mát trên đường dài phải được sửa từ đầu bên kia. Longhaul dẫn tệp qua các trạm trung chuyển: một chuỗi kết nối ngắn, mỗi kết nối sửa lỗi rất nhanh.',
  welcomeWhatWhen:
    'Điều đó chỉ xảy ra khi chuỗi trạm được dự đoán là nhanh hơn. Mọi thứ khác vẫn như cũ, và khi có gì bị đứt, phần đã lưu vẫn được giữ.',
  welcomeWho: 'Ai biết được điều gì',
  welcomeWhere: 'Máy chủ điều phối và sự đồng ý của bạn',
  welcomeWhereWhy:
    'Nhà mạng, trường đại học hoặc một người bạn vận hành máy chủ điều phối và đã cho bạn địa chỉ. Bạn có thể đổi bất cứ lúc nào.',
  welcomeAccess:
    'Trình duyệt sẽ hỏi bạn có cho phép truy cập các địa chỉ web không: chỉ như vậy Longhaul mới thấy trang web nói gì về một tệp và mới hỏi được trạm trung chuyển. Nó không đọc trang nào.',
  welcomeYes: 'Đồng ý, bắt đầu',
  welcomeNotNow: 'Để sau',
  welcomeDone:
    'Longhaul đã sẵn sàng. Nút của nó cho thấy nó đang làm gì; phần tùy chọn thay đổi được mọi thứ.',
  welcomeLater: 'Không có gì bị chuyển hướng. Nút Longhaul sẽ đưa bạn trở lại đây.',
};
