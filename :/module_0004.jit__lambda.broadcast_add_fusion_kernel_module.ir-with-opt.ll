; ModuleID = '__compute_module_broadcast_add_fusion_kernel_module'
source_filename = "__compute_module_broadcast_add_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable
define noalias noundef ptr @broadcast_add_fusion(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = load ptr, ptr %3, align 8, !invariant.load !3, !dereferenceable !4
  %5 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !3, !dereferenceable !5
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %8 = load ptr, ptr %7, align 8, !invariant.load !3, !dereferenceable !6
  %9 = getelementptr inbounds nuw i8, ptr %3, i64 48
  %10 = load ptr, ptr %9, align 8, !invariant.load !3, !dereferenceable !6
  %11 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %12 = load ptr, ptr %11, align 8, !invariant.load !3, !dereferenceable !4
  %13 = getelementptr inbounds nuw i8, ptr %3, i64 80
  %14 = load ptr, ptr %13, align 8, !invariant.load !3, !dereferenceable !6
  tail call void @llvm.experimental.noalias.scope.decl(metadata !7)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !10)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !12)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !14)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !16)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !18)
  %15 = load i32, ptr %6, align 4, !invariant.load !3, !alias.scope !10, !noalias !20
  %.fr12 = freeze i32 %15
  %16 = sub i32 32, %.fr12
  %17 = icmp ult i32 %.fr12, 32
  %18 = icmp ult i32 %16, 32
  %19 = getelementptr inbounds nuw i8, ptr %6, i64 4
  %20 = load i32, ptr %19, align 4, !invariant.load !3, !alias.scope !10, !noalias !20
  %.fr = freeze i32 %20
  %21 = sub i32 32, %.fr
  %22 = icmp ult i32 %.fr, 32
  %23 = icmp ult i32 %21, 32
  %24 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %25 = load i32, ptr %24, align 4, !invariant.load !3, !alias.scope !10, !noalias !20
  %.fr13 = freeze i32 %25
  %26 = sub i32 32, %.fr13
  %27 = icmp ult i32 %.fr13, 32
  %28 = icmp ult i32 %26, 32
  %29 = getelementptr inbounds nuw i8, ptr %6, i64 12
  %30 = load i32, ptr %29, align 4, !invariant.load !3, !alias.scope !10, !noalias !20
  %.fr14 = freeze i32 %30
  %31 = sub i32 32, %.fr14
  %32 = icmp ult i32 %.fr14, 32
  %33 = icmp ult i32 %31, 32
  %34 = load i32, ptr %4, align 4, !invariant.load !3, !alias.scope !7, !noalias !21
  %35 = load i32, ptr %12, align 4, !invariant.load !3, !alias.scope !16, !noalias !22
  %36 = add i32 %34, 1
  %37 = add i32 %36, %35
  br i1 %17, label %.split4.us, label %vector.ph

vector.ph:                                        ; preds = %1
  %broadcast.splatinsert = insertelement <8 x i32> poison, i32 %16, i64 0
  %broadcast.splat = shufflevector <8 x i32> %broadcast.splatinsert, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert58 = insertelement <8 x i32> poison, i32 %.fr, i64 0
  %broadcast.splat59 = shufflevector <8 x i32> %broadcast.splatinsert58, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert60 = insertelement <8 x i32> poison, i32 %21, i64 0
  %broadcast.splat61 = shufflevector <8 x i32> %broadcast.splatinsert60, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert62 = insertelement <8 x i32> poison, i32 %.fr13, i64 0
  %broadcast.splat63 = shufflevector <8 x i32> %broadcast.splatinsert62, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert64 = insertelement <8 x i32> poison, i32 %26, i64 0
  %broadcast.splat65 = shufflevector <8 x i32> %broadcast.splatinsert64, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert66 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat67 = shufflevector <8 x i32> %broadcast.splatinsert66, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert68 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat69 = shufflevector <8 x i32> %broadcast.splatinsert68, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert70 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat71 = shufflevector <8 x i32> %broadcast.splatinsert70, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %38 = shl nuw nsw i64 %index, 3
  %39 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %38
  %wide.load = load <8 x i32>, ptr %39, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %40 = lshr <8 x i32> %wide.load, %broadcast.splat
  %41 = select i1 %18, <8 x i32> %40, <8 x i32> zeroinitializer
  %42 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %38
  %wide.load73 = load <8 x i32>, ptr %42, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %43 = add <8 x i32> %wide.load73, %wide.load
  %44 = xor <8 x i32> %41, %43
  %45 = shl <8 x i32> %44, %broadcast.splat59
  %46 = select i1 %22, <8 x i32> %45, <8 x i32> zeroinitializer
  %47 = lshr <8 x i32> %44, %broadcast.splat61
  %48 = select i1 %23, <8 x i32> %47, <8 x i32> zeroinitializer
  %49 = or <8 x i32> %46, %48
  %50 = add <8 x i32> %44, %43
  %51 = xor <8 x i32> %49, %50
  %52 = shl <8 x i32> %51, %broadcast.splat63
  %53 = select i1 %27, <8 x i32> %52, <8 x i32> zeroinitializer
  %54 = lshr <8 x i32> %51, %broadcast.splat65
  %55 = select i1 %28, <8 x i32> %54, <8 x i32> zeroinitializer
  %56 = or <8 x i32> %53, %55
  %57 = add <8 x i32> %51, %50
  %58 = xor <8 x i32> %56, %57
  %59 = shl <8 x i32> %58, %broadcast.splat67
  %60 = select i1 %32, <8 x i32> %59, <8 x i32> zeroinitializer
  %61 = lshr <8 x i32> %58, %broadcast.splat69
  %62 = select i1 %33, <8 x i32> %61, <8 x i32> zeroinitializer
  %63 = add <8 x i32> %58, %57
  %64 = or <8 x i32> %60, %62
  %65 = xor <8 x i32> %64, %63
  %66 = add <8 x i32> %broadcast.splat71, %65
  %67 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %38
  store <8 x i32> %66, ptr %67, align 4, !alias.scope !18, !noalias !25
  %index.next = add nuw i64 %index, 1
  %68 = icmp eq i64 %index.next, 8
  br i1 %68, label %broadcast_add_fusion_wrapped.exit, label %vector.body, !llvm.loop !26

.split4.us:                                       ; preds = %1
  %broadcast.splatinsert249 = insertelement <8 x i32> poison, i32 %.fr12, i64 0
  %broadcast.splat250 = shufflevector <8 x i32> %broadcast.splatinsert249, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %18, label %.split4.us.split.us, label %vector.ph74

vector.ph74:                                      ; preds = %.split4.us
  %broadcast.splatinsert77 = insertelement <8 x i32> poison, i32 %.fr, i64 0
  %broadcast.splat78 = shufflevector <8 x i32> %broadcast.splatinsert77, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert79 = insertelement <8 x i32> poison, i32 %21, i64 0
  %broadcast.splat80 = shufflevector <8 x i32> %broadcast.splatinsert79, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert81 = insertelement <8 x i32> poison, i32 %.fr13, i64 0
  %broadcast.splat82 = shufflevector <8 x i32> %broadcast.splatinsert81, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert83 = insertelement <8 x i32> poison, i32 %26, i64 0
  %broadcast.splat84 = shufflevector <8 x i32> %broadcast.splatinsert83, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert85 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat86 = shufflevector <8 x i32> %broadcast.splatinsert85, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert87 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat88 = shufflevector <8 x i32> %broadcast.splatinsert87, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert89 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat90 = shufflevector <8 x i32> %broadcast.splatinsert89, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body91

vector.body91:                                    ; preds = %vector.body91, %vector.ph74
  %index92 = phi i64 [ 0, %vector.ph74 ], [ %index.next96, %vector.body91 ]
  %69 = shl nuw nsw i64 %index92, 3
  %70 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %69
  %wide.load93 = load <8 x i32>, ptr %70, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %71 = shl <8 x i32> %wide.load93, %broadcast.splat250
  %72 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %69
  %wide.load95 = load <8 x i32>, ptr %72, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %73 = add <8 x i32> %wide.load95, %wide.load93
  %74 = xor <8 x i32> %71, %73
  %75 = shl <8 x i32> %74, %broadcast.splat78
  %76 = select i1 %22, <8 x i32> %75, <8 x i32> zeroinitializer
  %77 = lshr <8 x i32> %74, %broadcast.splat80
  %78 = select i1 %23, <8 x i32> %77, <8 x i32> zeroinitializer
  %79 = or <8 x i32> %76, %78
  %80 = add <8 x i32> %74, %73
  %81 = xor <8 x i32> %79, %80
  %82 = shl <8 x i32> %81, %broadcast.splat82
  %83 = select i1 %27, <8 x i32> %82, <8 x i32> zeroinitializer
  %84 = lshr <8 x i32> %81, %broadcast.splat84
  %85 = select i1 %28, <8 x i32> %84, <8 x i32> zeroinitializer
  %86 = or <8 x i32> %83, %85
  %87 = add <8 x i32> %81, %80
  %88 = xor <8 x i32> %86, %87
  %89 = shl <8 x i32> %88, %broadcast.splat86
  %90 = select i1 %32, <8 x i32> %89, <8 x i32> zeroinitializer
  %91 = lshr <8 x i32> %88, %broadcast.splat88
  %92 = select i1 %33, <8 x i32> %91, <8 x i32> zeroinitializer
  %93 = add <8 x i32> %88, %87
  %94 = or <8 x i32> %90, %92
  %95 = xor <8 x i32> %94, %93
  %96 = add <8 x i32> %broadcast.splat90, %95
  %97 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %69
  store <8 x i32> %96, ptr %97, align 4, !alias.scope !18, !noalias !25
  %index.next96 = add nuw i64 %index92, 1
  %98 = icmp eq i64 %index.next96, 8
  br i1 %98, label %broadcast_add_fusion_wrapped.exit, label %vector.body91, !llvm.loop !30

.split4.us.split.us:                              ; preds = %.split4.us
  %broadcast.splatinsert251 = insertelement <8 x i32> poison, i32 %16, i64 0
  %broadcast.splat252 = shufflevector <8 x i32> %broadcast.splatinsert251, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %22, label %.split4.us.split.us.split.us, label %vector.ph98

vector.ph98:                                      ; preds = %.split4.us.split.us
  %broadcast.splatinsert103 = insertelement <8 x i32> poison, i32 %21, i64 0
  %broadcast.splat104 = shufflevector <8 x i32> %broadcast.splatinsert103, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert105 = insertelement <8 x i32> poison, i32 %.fr13, i64 0
  %broadcast.splat106 = shufflevector <8 x i32> %broadcast.splatinsert105, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert107 = insertelement <8 x i32> poison, i32 %26, i64 0
  %broadcast.splat108 = shufflevector <8 x i32> %broadcast.splatinsert107, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert109 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat110 = shufflevector <8 x i32> %broadcast.splatinsert109, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert111 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat112 = shufflevector <8 x i32> %broadcast.splatinsert111, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert113 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat114 = shufflevector <8 x i32> %broadcast.splatinsert113, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body115

vector.body115:                                   ; preds = %vector.body115, %vector.ph98
  %index116 = phi i64 [ 0, %vector.ph98 ], [ %index.next121, %vector.body115 ]
  %99 = shl nuw nsw i64 %index116, 3
  %100 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %99
  %wide.load117 = load <8 x i32>, ptr %100, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %101 = shl <8 x i32> %wide.load117, %broadcast.splat250
  %102 = lshr <8 x i32> %wide.load117, %broadcast.splat252
  %103 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %99
  %wide.load120 = load <8 x i32>, ptr %103, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %104 = or disjoint <8 x i32> %101, %102
  %105 = add <8 x i32> %wide.load120, %wide.load117
  %106 = xor <8 x i32> %104, %105
  %107 = lshr <8 x i32> %106, %broadcast.splat104
  %108 = select i1 %23, <8 x i32> %107, <8 x i32> zeroinitializer
  %109 = add <8 x i32> %106, %105
  %110 = xor <8 x i32> %108, %109
  %111 = shl <8 x i32> %110, %broadcast.splat106
  %112 = select i1 %27, <8 x i32> %111, <8 x i32> zeroinitializer
  %113 = lshr <8 x i32> %110, %broadcast.splat108
  %114 = select i1 %28, <8 x i32> %113, <8 x i32> zeroinitializer
  %115 = or <8 x i32> %112, %114
  %116 = add <8 x i32> %110, %109
  %117 = xor <8 x i32> %115, %116
  %118 = shl <8 x i32> %117, %broadcast.splat110
  %119 = select i1 %32, <8 x i32> %118, <8 x i32> zeroinitializer
  %120 = lshr <8 x i32> %117, %broadcast.splat112
  %121 = select i1 %33, <8 x i32> %120, <8 x i32> zeroinitializer
  %122 = add <8 x i32> %117, %116
  %123 = or <8 x i32> %119, %121
  %124 = xor <8 x i32> %123, %122
  %125 = add <8 x i32> %broadcast.splat114, %124
  %126 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %99
  store <8 x i32> %125, ptr %126, align 4, !alias.scope !18, !noalias !25
  %index.next121 = add nuw i64 %index116, 1
  %127 = icmp eq i64 %index.next121, 8
  br i1 %127, label %broadcast_add_fusion_wrapped.exit, label %vector.body115, !llvm.loop !31

.split4.us.split.us.split.us:                     ; preds = %.split4.us.split.us
  %broadcast.splatinsert253 = insertelement <8 x i32> poison, i32 %.fr, i64 0
  %broadcast.splat254 = shufflevector <8 x i32> %broadcast.splatinsert253, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %23, label %.split4.us.split.us.split.us.split.us, label %vector.ph123

vector.ph123:                                     ; preds = %.split4.us.split.us.split.us
  %broadcast.splatinsert130 = insertelement <8 x i32> poison, i32 %.fr13, i64 0
  %broadcast.splat131 = shufflevector <8 x i32> %broadcast.splatinsert130, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert132 = insertelement <8 x i32> poison, i32 %26, i64 0
  %broadcast.splat133 = shufflevector <8 x i32> %broadcast.splatinsert132, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert134 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat135 = shufflevector <8 x i32> %broadcast.splatinsert134, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert136 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat137 = shufflevector <8 x i32> %broadcast.splatinsert136, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert138 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat139 = shufflevector <8 x i32> %broadcast.splatinsert138, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body140

vector.body140:                                   ; preds = %vector.body140, %vector.ph123
  %index141 = phi i64 [ 0, %vector.ph123 ], [ %index.next146, %vector.body140 ]
  %128 = shl nuw nsw i64 %index141, 3
  %129 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %128
  %wide.load142 = load <8 x i32>, ptr %129, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %130 = shl <8 x i32> %wide.load142, %broadcast.splat250
  %131 = lshr <8 x i32> %wide.load142, %broadcast.splat252
  %132 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %128
  %wide.load145 = load <8 x i32>, ptr %132, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %133 = or disjoint <8 x i32> %130, %131
  %134 = add <8 x i32> %wide.load145, %wide.load142
  %135 = xor <8 x i32> %133, %134
  %136 = shl <8 x i32> %135, %broadcast.splat254
  %137 = add <8 x i32> %135, %134
  %138 = xor <8 x i32> %136, %137
  %139 = shl <8 x i32> %138, %broadcast.splat131
  %140 = select i1 %27, <8 x i32> %139, <8 x i32> zeroinitializer
  %141 = lshr <8 x i32> %138, %broadcast.splat133
  %142 = select i1 %28, <8 x i32> %141, <8 x i32> zeroinitializer
  %143 = or <8 x i32> %140, %142
  %144 = add <8 x i32> %138, %137
  %145 = xor <8 x i32> %143, %144
  %146 = shl <8 x i32> %145, %broadcast.splat135
  %147 = select i1 %32, <8 x i32> %146, <8 x i32> zeroinitializer
  %148 = lshr <8 x i32> %145, %broadcast.splat137
  %149 = select i1 %33, <8 x i32> %148, <8 x i32> zeroinitializer
  %150 = add <8 x i32> %145, %144
  %151 = or <8 x i32> %147, %149
  %152 = xor <8 x i32> %151, %150
  %153 = add <8 x i32> %broadcast.splat139, %152
  %154 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %128
  store <8 x i32> %153, ptr %154, align 4, !alias.scope !18, !noalias !25
  %index.next146 = add nuw i64 %index141, 1
  %155 = icmp eq i64 %index.next146, 8
  br i1 %155, label %broadcast_add_fusion_wrapped.exit, label %vector.body140, !llvm.loop !32

.split4.us.split.us.split.us.split.us:            ; preds = %.split4.us.split.us.split.us
  %broadcast.splatinsert255 = insertelement <8 x i32> poison, i32 %21, i64 0
  %broadcast.splat256 = shufflevector <8 x i32> %broadcast.splatinsert255, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %27, label %.split4.us.split.us.split.us.split.us.split.us, label %vector.ph148

vector.ph148:                                     ; preds = %.split4.us.split.us.split.us.split.us
  %broadcast.splatinsert157 = insertelement <8 x i32> poison, i32 %26, i64 0
  %broadcast.splat158 = shufflevector <8 x i32> %broadcast.splatinsert157, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert159 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat160 = shufflevector <8 x i32> %broadcast.splatinsert159, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert161 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat162 = shufflevector <8 x i32> %broadcast.splatinsert161, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert163 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat164 = shufflevector <8 x i32> %broadcast.splatinsert163, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body165

vector.body165:                                   ; preds = %vector.body165, %vector.ph148
  %index166 = phi i64 [ 0, %vector.ph148 ], [ %index.next171, %vector.body165 ]
  %156 = shl nuw nsw i64 %index166, 3
  %157 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %156
  %wide.load167 = load <8 x i32>, ptr %157, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %158 = shl <8 x i32> %wide.load167, %broadcast.splat250
  %159 = lshr <8 x i32> %wide.load167, %broadcast.splat252
  %160 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %156
  %wide.load170 = load <8 x i32>, ptr %160, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %161 = or disjoint <8 x i32> %158, %159
  %162 = add <8 x i32> %wide.load170, %wide.load167
  %163 = xor <8 x i32> %161, %162
  %164 = shl <8 x i32> %163, %broadcast.splat254
  %165 = lshr <8 x i32> %163, %broadcast.splat256
  %166 = or disjoint <8 x i32> %164, %165
  %167 = add <8 x i32> %163, %162
  %168 = xor <8 x i32> %166, %167
  %169 = lshr <8 x i32> %168, %broadcast.splat158
  %170 = select i1 %28, <8 x i32> %169, <8 x i32> zeroinitializer
  %171 = add <8 x i32> %168, %167
  %172 = xor <8 x i32> %170, %171
  %173 = shl <8 x i32> %172, %broadcast.splat160
  %174 = select i1 %32, <8 x i32> %173, <8 x i32> zeroinitializer
  %175 = lshr <8 x i32> %172, %broadcast.splat162
  %176 = select i1 %33, <8 x i32> %175, <8 x i32> zeroinitializer
  %177 = add <8 x i32> %172, %171
  %178 = or <8 x i32> %174, %176
  %179 = xor <8 x i32> %178, %177
  %180 = add <8 x i32> %broadcast.splat164, %179
  %181 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %156
  store <8 x i32> %180, ptr %181, align 4, !alias.scope !18, !noalias !25
  %index.next171 = add nuw i64 %index166, 1
  %182 = icmp eq i64 %index.next171, 8
  br i1 %182, label %broadcast_add_fusion_wrapped.exit, label %vector.body165, !llvm.loop !33

.split4.us.split.us.split.us.split.us.split.us:   ; preds = %.split4.us.split.us.split.us.split.us
  %broadcast.splatinsert257 = insertelement <8 x i32> poison, i32 %.fr13, i64 0
  %broadcast.splat258 = shufflevector <8 x i32> %broadcast.splatinsert257, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %28, label %.split4.us.split.us.split.us.split.us.split.us.split.us, label %vector.ph173

vector.ph173:                                     ; preds = %.split4.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert184 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat185 = shufflevector <8 x i32> %broadcast.splatinsert184, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert186 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat187 = shufflevector <8 x i32> %broadcast.splatinsert186, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert188 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat189 = shufflevector <8 x i32> %broadcast.splatinsert188, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body190

vector.body190:                                   ; preds = %vector.body190, %vector.ph173
  %index191 = phi i64 [ 0, %vector.ph173 ], [ %index.next196, %vector.body190 ]
  %183 = shl nuw nsw i64 %index191, 3
  %184 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %183
  %wide.load192 = load <8 x i32>, ptr %184, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %185 = shl <8 x i32> %wide.load192, %broadcast.splat250
  %186 = lshr <8 x i32> %wide.load192, %broadcast.splat252
  %187 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %183
  %wide.load195 = load <8 x i32>, ptr %187, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %188 = or disjoint <8 x i32> %185, %186
  %189 = add <8 x i32> %wide.load195, %wide.load192
  %190 = xor <8 x i32> %188, %189
  %191 = shl <8 x i32> %190, %broadcast.splat254
  %192 = lshr <8 x i32> %190, %broadcast.splat256
  %193 = or disjoint <8 x i32> %191, %192
  %194 = add <8 x i32> %190, %189
  %195 = xor <8 x i32> %193, %194
  %196 = shl <8 x i32> %195, %broadcast.splat258
  %197 = add <8 x i32> %195, %194
  %198 = xor <8 x i32> %196, %197
  %199 = shl <8 x i32> %198, %broadcast.splat185
  %200 = select i1 %32, <8 x i32> %199, <8 x i32> zeroinitializer
  %201 = lshr <8 x i32> %198, %broadcast.splat187
  %202 = select i1 %33, <8 x i32> %201, <8 x i32> zeroinitializer
  %203 = add <8 x i32> %198, %197
  %204 = or <8 x i32> %200, %202
  %205 = xor <8 x i32> %204, %203
  %206 = add <8 x i32> %broadcast.splat189, %205
  %207 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %183
  store <8 x i32> %206, ptr %207, align 4, !alias.scope !18, !noalias !25
  %index.next196 = add nuw i64 %index191, 1
  %208 = icmp eq i64 %index.next196, 8
  br i1 %208, label %broadcast_add_fusion_wrapped.exit, label %vector.body190, !llvm.loop !34

.split4.us.split.us.split.us.split.us.split.us.split.us: ; preds = %.split4.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert259 = insertelement <8 x i32> poison, i32 %26, i64 0
  %broadcast.splat260 = shufflevector <8 x i32> %broadcast.splatinsert259, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %32, label %.split4.us.split.us.split.us.split.us.split.us.split.us.split.us, label %vector.ph198

vector.ph198:                                     ; preds = %.split4.us.split.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert211 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat212 = shufflevector <8 x i32> %broadcast.splatinsert211, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert213 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat214 = shufflevector <8 x i32> %broadcast.splatinsert213, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body215

vector.body215:                                   ; preds = %vector.body215, %vector.ph198
  %index216 = phi i64 [ 0, %vector.ph198 ], [ %index.next221, %vector.body215 ]
  %209 = shl nuw nsw i64 %index216, 3
  %210 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %209
  %wide.load217 = load <8 x i32>, ptr %210, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %211 = shl <8 x i32> %wide.load217, %broadcast.splat250
  %212 = lshr <8 x i32> %wide.load217, %broadcast.splat252
  %213 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %209
  %wide.load220 = load <8 x i32>, ptr %213, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %214 = or disjoint <8 x i32> %211, %212
  %215 = add <8 x i32> %wide.load220, %wide.load217
  %216 = xor <8 x i32> %214, %215
  %217 = shl <8 x i32> %216, %broadcast.splat254
  %218 = lshr <8 x i32> %216, %broadcast.splat256
  %219 = or disjoint <8 x i32> %217, %218
  %220 = add <8 x i32> %216, %215
  %221 = xor <8 x i32> %219, %220
  %222 = shl <8 x i32> %221, %broadcast.splat258
  %223 = lshr <8 x i32> %221, %broadcast.splat260
  %224 = or disjoint <8 x i32> %222, %223
  %225 = add <8 x i32> %221, %220
  %226 = xor <8 x i32> %224, %225
  %227 = lshr <8 x i32> %226, %broadcast.splat212
  %228 = select i1 %33, <8 x i32> %227, <8 x i32> zeroinitializer
  %229 = add <8 x i32> %226, %225
  %230 = xor <8 x i32> %228, %229
  %231 = add <8 x i32> %broadcast.splat214, %230
  %232 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %209
  store <8 x i32> %231, ptr %232, align 4, !alias.scope !18, !noalias !25
  %index.next221 = add nuw i64 %index216, 1
  %233 = icmp eq i64 %index.next221, 8
  br i1 %233, label %broadcast_add_fusion_wrapped.exit, label %vector.body215, !llvm.loop !35

.split4.us.split.us.split.us.split.us.split.us.split.us.split.us: ; preds = %.split4.us.split.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert261 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat262 = shufflevector <8 x i32> %broadcast.splatinsert261, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %33, label %vector.ph248, label %vector.ph223

vector.ph223:                                     ; preds = %.split4.us.split.us.split.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert238 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat239 = shufflevector <8 x i32> %broadcast.splatinsert238, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body240

vector.body240:                                   ; preds = %vector.body240, %vector.ph223
  %index241 = phi i64 [ 0, %vector.ph223 ], [ %index.next246, %vector.body240 ]
  %234 = shl nuw nsw i64 %index241, 3
  %235 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %234
  %wide.load242 = load <8 x i32>, ptr %235, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %236 = shl <8 x i32> %wide.load242, %broadcast.splat250
  %237 = lshr <8 x i32> %wide.load242, %broadcast.splat252
  %238 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %234
  %wide.load245 = load <8 x i32>, ptr %238, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %239 = or disjoint <8 x i32> %236, %237
  %240 = add <8 x i32> %wide.load245, %wide.load242
  %241 = xor <8 x i32> %239, %240
  %242 = shl <8 x i32> %241, %broadcast.splat254
  %243 = lshr <8 x i32> %241, %broadcast.splat256
  %244 = or disjoint <8 x i32> %242, %243
  %245 = add <8 x i32> %241, %240
  %246 = xor <8 x i32> %244, %245
  %247 = shl <8 x i32> %246, %broadcast.splat258
  %248 = lshr <8 x i32> %246, %broadcast.splat260
  %249 = or disjoint <8 x i32> %247, %248
  %250 = add <8 x i32> %246, %245
  %251 = xor <8 x i32> %249, %250
  %252 = shl <8 x i32> %251, %broadcast.splat262
  %253 = add <8 x i32> %251, %250
  %254 = xor <8 x i32> %252, %253
  %255 = add <8 x i32> %broadcast.splat239, %254
  %256 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %234
  store <8 x i32> %255, ptr %256, align 4, !alias.scope !18, !noalias !25
  %index.next246 = add nuw i64 %index241, 1
  %257 = icmp eq i64 %index.next246, 8
  br i1 %257, label %broadcast_add_fusion_wrapped.exit, label %vector.body240, !llvm.loop !36

vector.ph248:                                     ; preds = %.split4.us.split.us.split.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert263 = insertelement <8 x i32> poison, i32 %31, i64 0
  %broadcast.splat264 = shufflevector <8 x i32> %broadcast.splatinsert263, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert265 = insertelement <8 x i32> poison, i32 %37, i64 0
  %broadcast.splat266 = shufflevector <8 x i32> %broadcast.splatinsert265, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body267

vector.body267:                                   ; preds = %vector.body267, %vector.ph248
  %index268 = phi i64 [ 0, %vector.ph248 ], [ %index.next273, %vector.body267 ]
  %258 = shl nuw nsw i64 %index268, 3
  %259 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %258
  %wide.load269 = load <8 x i32>, ptr %259, align 4, !invariant.load !3, !alias.scope !12, !noalias !23
  %260 = shl <8 x i32> %wide.load269, %broadcast.splat250
  %261 = lshr <8 x i32> %wide.load269, %broadcast.splat252
  %262 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %258
  %wide.load272 = load <8 x i32>, ptr %262, align 4, !invariant.load !3, !alias.scope !14, !noalias !24
  %263 = or disjoint <8 x i32> %260, %261
  %264 = add <8 x i32> %wide.load272, %wide.load269
  %265 = xor <8 x i32> %263, %264
  %266 = shl <8 x i32> %265, %broadcast.splat254
  %267 = lshr <8 x i32> %265, %broadcast.splat256
  %268 = or disjoint <8 x i32> %266, %267
  %269 = add <8 x i32> %265, %264
  %270 = xor <8 x i32> %268, %269
  %271 = shl <8 x i32> %270, %broadcast.splat258
  %272 = lshr <8 x i32> %270, %broadcast.splat260
  %273 = or disjoint <8 x i32> %271, %272
  %274 = add <8 x i32> %270, %269
  %275 = xor <8 x i32> %273, %274
  %276 = shl <8 x i32> %275, %broadcast.splat262
  %277 = lshr <8 x i32> %275, %broadcast.splat264
  %278 = add <8 x i32> %275, %274
  %279 = or disjoint <8 x i32> %276, %277
  %280 = xor <8 x i32> %279, %278
  %281 = add <8 x i32> %broadcast.splat266, %280
  %282 = getelementptr inbounds nuw [4 x i8], ptr %14, i64 %258
  store <8 x i32> %281, ptr %282, align 4, !alias.scope !18, !noalias !25
  %index.next273 = add nuw i64 %index268, 1
  %283 = icmp eq i64 %index.next273, 8
  br i1 %283, label %broadcast_add_fusion_wrapped.exit, label %vector.body267, !llvm.loop !37

broadcast_add_fusion_wrapped.exit:                ; preds = %vector.body, %vector.body91, %vector.body115, %vector.body140, %vector.body165, %vector.body190, %vector.body215, %vector.body240, %vector.body267
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #1

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 1}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 4}
!5 = !{i64 16}
!6 = !{i64 256}
!7 = !{!8}
!8 = distinct !{!8, !9, !"broadcast_add_fusion_wrapped: argument 0"}
!9 = distinct !{!9, !"broadcast_add_fusion_wrapped"}
!10 = !{!11}
!11 = distinct !{!11, !9, !"broadcast_add_fusion_wrapped: argument 1"}
!12 = !{!13}
!13 = distinct !{!13, !9, !"broadcast_add_fusion_wrapped: argument 2"}
!14 = !{!15}
!15 = distinct !{!15, !9, !"broadcast_add_fusion_wrapped: argument 3"}
!16 = !{!17}
!17 = distinct !{!17, !9, !"broadcast_add_fusion_wrapped: argument 4"}
!18 = !{!19}
!19 = distinct !{!19, !9, !"broadcast_add_fusion_wrapped: argument 5"}
!20 = !{!8, !13, !15, !17, !19}
!21 = !{!11, !13, !15, !17, !19}
!22 = !{!8, !11, !13, !15, !19}
!23 = !{!8, !11, !15, !17, !19}
!24 = !{!8, !11, !13, !17, !19}
!25 = !{!8, !11, !13, !15, !17}
!26 = distinct !{!26, !27, !28, !29}
!27 = !{!"llvm.loop.unroll.disable"}
!28 = !{!"llvm.loop.isvectorized", i32 1}
!29 = !{!"llvm.loop.unroll.runtime.disable"}
!30 = distinct !{!30, !27, !28, !29}
!31 = distinct !{!31, !27, !28, !29}
!32 = distinct !{!32, !27, !28, !29}
!33 = distinct !{!33, !27, !28, !29}
!34 = distinct !{!34, !27, !28, !29}
!35 = distinct !{!35, !27, !28, !29}
!36 = distinct !{!36, !27, !28, !29}
!37 = distinct !{!37, !27, !28, !29}
