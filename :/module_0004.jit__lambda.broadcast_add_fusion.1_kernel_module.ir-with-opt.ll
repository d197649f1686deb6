; ModuleID = '__compute_module_broadcast_add_fusion.1_kernel_module'
source_filename = "__compute_module_broadcast_add_fusion.1_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable
define noalias noundef ptr @broadcast_add_fusion.1(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
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
  %12 = load ptr, ptr %11, align 8, !invariant.load !3, !dereferenceable !6
  tail call void @llvm.experimental.noalias.scope.decl(metadata !7)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !10)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !12)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !14)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !16)
  %13 = load i32, ptr %6, align 4, !invariant.load !3, !alias.scope !10, !noalias !18
  %.fr13 = freeze i32 %13
  %14 = sub i32 32, %.fr13
  %15 = icmp ult i32 %.fr13, 32
  %16 = icmp ult i32 %14, 32
  %17 = getelementptr inbounds nuw i8, ptr %6, i64 4
  %18 = load i32, ptr %17, align 4, !invariant.load !3, !alias.scope !10, !noalias !18
  %.fr = freeze i32 %18
  %19 = sub i32 32, %.fr
  %20 = icmp ult i32 %.fr, 32
  %21 = icmp ult i32 %19, 32
  %22 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %23 = load i32, ptr %22, align 4, !invariant.load !3, !alias.scope !10, !noalias !18
  %.fr14 = freeze i32 %23
  %24 = sub i32 32, %.fr14
  %25 = icmp ult i32 %.fr14, 32
  %26 = icmp ult i32 %24, 32
  %27 = load i32, ptr %4, align 4, !invariant.load !3, !alias.scope !7, !noalias !19
  br i1 %15, label %.split4.us, label %vector.ph

vector.ph:                                        ; preds = %1
  %broadcast.splatinsert = insertelement <8 x i32> poison, i32 %14, i64 0
  %broadcast.splat = shufflevector <8 x i32> %broadcast.splatinsert, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert52 = insertelement <8 x i32> poison, i32 %.fr, i64 0
  %broadcast.splat53 = shufflevector <8 x i32> %broadcast.splatinsert52, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert54 = insertelement <8 x i32> poison, i32 %19, i64 0
  %broadcast.splat55 = shufflevector <8 x i32> %broadcast.splatinsert54, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert56 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat57 = shufflevector <8 x i32> %broadcast.splatinsert56, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert58 = insertelement <8 x i32> poison, i32 %24, i64 0
  %broadcast.splat59 = shufflevector <8 x i32> %broadcast.splatinsert58, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert60 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat61 = shufflevector <8 x i32> %broadcast.splatinsert60, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %28 = shl nuw nsw i64 %index, 3
  %29 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %28
  %wide.load = load <8 x i32>, ptr %29, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %30 = lshr <8 x i32> %wide.load, %broadcast.splat
  %31 = select i1 %16, <8 x i32> %30, <8 x i32> zeroinitializer
  %32 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %28
  %wide.load63 = load <8 x i32>, ptr %32, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %33 = add <8 x i32> %wide.load63, %wide.load
  %34 = xor <8 x i32> %31, %33
  %35 = shl <8 x i32> %34, %broadcast.splat53
  %36 = select i1 %20, <8 x i32> %35, <8 x i32> zeroinitializer
  %37 = lshr <8 x i32> %34, %broadcast.splat55
  %38 = select i1 %21, <8 x i32> %37, <8 x i32> zeroinitializer
  %39 = or <8 x i32> %36, %38
  %40 = add <8 x i32> %34, %33
  %41 = xor <8 x i32> %39, %40
  %42 = shl <8 x i32> %41, %broadcast.splat57
  %43 = select i1 %25, <8 x i32> %42, <8 x i32> zeroinitializer
  %44 = lshr <8 x i32> %41, %broadcast.splat59
  %45 = select i1 %26, <8 x i32> %44, <8 x i32> zeroinitializer
  %46 = or <8 x i32> %43, %45
  %47 = add <8 x i32> %41, %40
  %48 = xor <8 x i32> %46, %47
  %49 = add <8 x i32> %47, %broadcast.splat61
  %50 = add <8 x i32> %49, %48
  %51 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %28
  store <8 x i32> %50, ptr %51, align 4, !alias.scope !16, !noalias !22
  %index.next = add nuw i64 %index, 1
  %52 = icmp eq i64 %index.next, 8
  br i1 %52, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body, !llvm.loop !23

.split4.us:                                       ; preds = %1
  %broadcast.splatinsert188 = insertelement <8 x i32> poison, i32 %.fr13, i64 0
  %broadcast.splat189 = shufflevector <8 x i32> %broadcast.splatinsert188, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %16, label %.split4.us.split.us, label %vector.ph64

vector.ph64:                                      ; preds = %.split4.us
  %broadcast.splatinsert67 = insertelement <8 x i32> poison, i32 %.fr, i64 0
  %broadcast.splat68 = shufflevector <8 x i32> %broadcast.splatinsert67, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert69 = insertelement <8 x i32> poison, i32 %19, i64 0
  %broadcast.splat70 = shufflevector <8 x i32> %broadcast.splatinsert69, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert71 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat72 = shufflevector <8 x i32> %broadcast.splatinsert71, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert73 = insertelement <8 x i32> poison, i32 %24, i64 0
  %broadcast.splat74 = shufflevector <8 x i32> %broadcast.splatinsert73, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert75 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat76 = shufflevector <8 x i32> %broadcast.splatinsert75, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body77

vector.body77:                                    ; preds = %vector.body77, %vector.ph64
  %index78 = phi i64 [ 0, %vector.ph64 ], [ %index.next82, %vector.body77 ]
  %53 = shl nuw nsw i64 %index78, 3
  %54 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %53
  %wide.load79 = load <8 x i32>, ptr %54, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %55 = shl <8 x i32> %wide.load79, %broadcast.splat189
  %56 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %53
  %wide.load81 = load <8 x i32>, ptr %56, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %57 = add <8 x i32> %wide.load81, %wide.load79
  %58 = xor <8 x i32> %55, %57
  %59 = shl <8 x i32> %58, %broadcast.splat68
  %60 = select i1 %20, <8 x i32> %59, <8 x i32> zeroinitializer
  %61 = lshr <8 x i32> %58, %broadcast.splat70
  %62 = select i1 %21, <8 x i32> %61, <8 x i32> zeroinitializer
  %63 = or <8 x i32> %60, %62
  %64 = add <8 x i32> %58, %57
  %65 = xor <8 x i32> %63, %64
  %66 = shl <8 x i32> %65, %broadcast.splat72
  %67 = select i1 %25, <8 x i32> %66, <8 x i32> zeroinitializer
  %68 = lshr <8 x i32> %65, %broadcast.splat74
  %69 = select i1 %26, <8 x i32> %68, <8 x i32> zeroinitializer
  %70 = or <8 x i32> %67, %69
  %71 = add <8 x i32> %65, %64
  %72 = xor <8 x i32> %70, %71
  %73 = add <8 x i32> %71, %broadcast.splat76
  %74 = add <8 x i32> %73, %72
  %75 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %53
  store <8 x i32> %74, ptr %75, align 4, !alias.scope !16, !noalias !22
  %index.next82 = add nuw i64 %index78, 1
  %76 = icmp eq i64 %index.next82, 8
  br i1 %76, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body77, !llvm.loop !27

.split4.us.split.us:                              ; preds = %.split4.us
  %broadcast.splatinsert190 = insertelement <8 x i32> poison, i32 %14, i64 0
  %broadcast.splat191 = shufflevector <8 x i32> %broadcast.splatinsert190, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %20, label %.split4.us.split.us.split.us, label %vector.ph84

vector.ph84:                                      ; preds = %.split4.us.split.us
  %broadcast.splatinsert89 = insertelement <8 x i32> poison, i32 %19, i64 0
  %broadcast.splat90 = shufflevector <8 x i32> %broadcast.splatinsert89, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert91 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat92 = shufflevector <8 x i32> %broadcast.splatinsert91, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert93 = insertelement <8 x i32> poison, i32 %24, i64 0
  %broadcast.splat94 = shufflevector <8 x i32> %broadcast.splatinsert93, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert95 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat96 = shufflevector <8 x i32> %broadcast.splatinsert95, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body97

vector.body97:                                    ; preds = %vector.body97, %vector.ph84
  %index98 = phi i64 [ 0, %vector.ph84 ], [ %index.next103, %vector.body97 ]
  %77 = shl nuw nsw i64 %index98, 3
  %78 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %77
  %wide.load99 = load <8 x i32>, ptr %78, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %79 = shl <8 x i32> %wide.load99, %broadcast.splat189
  %80 = lshr <8 x i32> %wide.load99, %broadcast.splat191
  %81 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %77
  %wide.load102 = load <8 x i32>, ptr %81, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %82 = or disjoint <8 x i32> %79, %80
  %83 = add <8 x i32> %wide.load102, %wide.load99
  %84 = xor <8 x i32> %82, %83
  %85 = lshr <8 x i32> %84, %broadcast.splat90
  %86 = select i1 %21, <8 x i32> %85, <8 x i32> zeroinitializer
  %87 = add <8 x i32> %84, %83
  %88 = xor <8 x i32> %86, %87
  %89 = shl <8 x i32> %88, %broadcast.splat92
  %90 = select i1 %25, <8 x i32> %89, <8 x i32> zeroinitializer
  %91 = lshr <8 x i32> %88, %broadcast.splat94
  %92 = select i1 %26, <8 x i32> %91, <8 x i32> zeroinitializer
  %93 = or <8 x i32> %90, %92
  %94 = add <8 x i32> %88, %87
  %95 = xor <8 x i32> %93, %94
  %96 = add <8 x i32> %94, %broadcast.splat96
  %97 = add <8 x i32> %96, %95
  %98 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %77
  store <8 x i32> %97, ptr %98, align 4, !alias.scope !16, !noalias !22
  %index.next103 = add nuw i64 %index98, 1
  %99 = icmp eq i64 %index.next103, 8
  br i1 %99, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body97, !llvm.loop !28

.split4.us.split.us.split.us:                     ; preds = %.split4.us.split.us
  %broadcast.splatinsert192 = insertelement <8 x i32> poison, i32 %.fr, i64 0
  %broadcast.splat193 = shufflevector <8 x i32> %broadcast.splatinsert192, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %21, label %.split4.us.split.us.split.us.split.us, label %vector.ph105

vector.ph105:                                     ; preds = %.split4.us.split.us.split.us
  %broadcast.splatinsert112 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat113 = shufflevector <8 x i32> %broadcast.splatinsert112, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert114 = insertelement <8 x i32> poison, i32 %24, i64 0
  %broadcast.splat115 = shufflevector <8 x i32> %broadcast.splatinsert114, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert116 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat117 = shufflevector <8 x i32> %broadcast.splatinsert116, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body118

vector.body118:                                   ; preds = %vector.body118, %vector.ph105
  %index119 = phi i64 [ 0, %vector.ph105 ], [ %index.next124, %vector.body118 ]
  %100 = shl nuw nsw i64 %index119, 3
  %101 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %100
  %wide.load120 = load <8 x i32>, ptr %101, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %102 = shl <8 x i32> %wide.load120, %broadcast.splat189
  %103 = lshr <8 x i32> %wide.load120, %broadcast.splat191
  %104 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %100
  %wide.load123 = load <8 x i32>, ptr %104, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %105 = or disjoint <8 x i32> %102, %103
  %106 = add <8 x i32> %wide.load123, %wide.load120
  %107 = xor <8 x i32> %105, %106
  %108 = shl <8 x i32> %107, %broadcast.splat193
  %109 = add <8 x i32> %107, %106
  %110 = xor <8 x i32> %108, %109
  %111 = shl <8 x i32> %110, %broadcast.splat113
  %112 = select i1 %25, <8 x i32> %111, <8 x i32> zeroinitializer
  %113 = lshr <8 x i32> %110, %broadcast.splat115
  %114 = select i1 %26, <8 x i32> %113, <8 x i32> zeroinitializer
  %115 = or <8 x i32> %112, %114
  %116 = add <8 x i32> %110, %109
  %117 = xor <8 x i32> %115, %116
  %118 = add <8 x i32> %116, %broadcast.splat117
  %119 = add <8 x i32> %118, %117
  %120 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %100
  store <8 x i32> %119, ptr %120, align 4, !alias.scope !16, !noalias !22
  %index.next124 = add nuw i64 %index119, 1
  %121 = icmp eq i64 %index.next124, 8
  br i1 %121, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body118, !llvm.loop !29

.split4.us.split.us.split.us.split.us:            ; preds = %.split4.us.split.us.split.us
  %broadcast.splatinsert194 = insertelement <8 x i32> poison, i32 %19, i64 0
  %broadcast.splat195 = shufflevector <8 x i32> %broadcast.splatinsert194, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %25, label %.split4.us.split.us.split.us.split.us.split.us, label %.split4.us.split.us.split.us.split.us.split

.split4.us.split.us.split.us.split.us.split.us:   ; preds = %.split4.us.split.us.split.us.split.us
  %broadcast.splatinsert196 = insertelement <8 x i32> poison, i32 %.fr14, i64 0
  %broadcast.splat197 = shufflevector <8 x i32> %broadcast.splatinsert196, <8 x i32> poison, <8 x i32> zeroinitializer
  br i1 %26, label %vector.ph187, label %vector.ph166

vector.ph166:                                     ; preds = %.split4.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert177 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat178 = shufflevector <8 x i32> %broadcast.splatinsert177, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body179

vector.body179:                                   ; preds = %vector.body179, %vector.ph166
  %index180 = phi i64 [ 0, %vector.ph166 ], [ %index.next185, %vector.body179 ]
  %122 = shl nuw nsw i64 %index180, 3
  %123 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %122
  %wide.load181 = load <8 x i32>, ptr %123, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %124 = shl <8 x i32> %wide.load181, %broadcast.splat189
  %125 = lshr <8 x i32> %wide.load181, %broadcast.splat191
  %126 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %122
  %wide.load184 = load <8 x i32>, ptr %126, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %127 = or disjoint <8 x i32> %124, %125
  %128 = add <8 x i32> %wide.load184, %wide.load181
  %129 = xor <8 x i32> %127, %128
  %130 = shl <8 x i32> %129, %broadcast.splat193
  %131 = lshr <8 x i32> %129, %broadcast.splat195
  %132 = or disjoint <8 x i32> %130, %131
  %133 = add <8 x i32> %129, %128
  %134 = xor <8 x i32> %132, %133
  %135 = shl <8 x i32> %134, %broadcast.splat197
  %136 = add <8 x i32> %134, %133
  %137 = xor <8 x i32> %135, %136
  %138 = add <8 x i32> %136, %broadcast.splat178
  %139 = add <8 x i32> %138, %137
  %140 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %122
  store <8 x i32> %139, ptr %140, align 4, !alias.scope !16, !noalias !22
  %index.next185 = add nuw i64 %index180, 1
  %141 = icmp eq i64 %index.next185, 8
  br i1 %141, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body179, !llvm.loop !30

vector.ph187:                                     ; preds = %.split4.us.split.us.split.us.split.us.split.us
  %broadcast.splatinsert198 = insertelement <8 x i32> poison, i32 %24, i64 0
  %broadcast.splat199 = shufflevector <8 x i32> %broadcast.splatinsert198, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert200 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat201 = shufflevector <8 x i32> %broadcast.splatinsert200, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body202

vector.body202:                                   ; preds = %vector.body202, %vector.ph187
  %index203 = phi i64 [ 0, %vector.ph187 ], [ %index.next208, %vector.body202 ]
  %142 = shl nuw nsw i64 %index203, 3
  %143 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %142
  %wide.load204 = load <8 x i32>, ptr %143, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %144 = shl <8 x i32> %wide.load204, %broadcast.splat189
  %145 = lshr <8 x i32> %wide.load204, %broadcast.splat191
  %146 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %142
  %wide.load207 = load <8 x i32>, ptr %146, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %147 = or disjoint <8 x i32> %144, %145
  %148 = add <8 x i32> %wide.load207, %wide.load204
  %149 = xor <8 x i32> %147, %148
  %150 = shl <8 x i32> %149, %broadcast.splat193
  %151 = lshr <8 x i32> %149, %broadcast.splat195
  %152 = or disjoint <8 x i32> %150, %151
  %153 = add <8 x i32> %149, %148
  %154 = xor <8 x i32> %152, %153
  %155 = shl <8 x i32> %154, %broadcast.splat197
  %156 = lshr <8 x i32> %154, %broadcast.splat199
  %157 = or disjoint <8 x i32> %155, %156
  %158 = add <8 x i32> %154, %153
  %159 = xor <8 x i32> %157, %158
  %160 = add <8 x i32> %158, %broadcast.splat201
  %161 = add <8 x i32> %160, %159
  %162 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %142
  store <8 x i32> %161, ptr %162, align 4, !alias.scope !16, !noalias !22
  %index.next208 = add nuw i64 %index203, 1
  %163 = icmp eq i64 %index.next208, 8
  br i1 %163, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body202, !llvm.loop !31

.split4.us.split.us.split.us.split.us.split:      ; preds = %.split4.us.split.us.split.us.split.us
  br i1 %26, label %vector.ph145, label %vector.ph126

vector.ph126:                                     ; preds = %.split4.us.split.us.split.us.split.us.split
  %broadcast.splatinsert135 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat136 = shufflevector <8 x i32> %broadcast.splatinsert135, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body137

vector.body137:                                   ; preds = %vector.body137, %vector.ph126
  %index138 = phi i64 [ 0, %vector.ph126 ], [ %index.next143, %vector.body137 ]
  %164 = shl nuw nsw i64 %index138, 3
  %165 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %164
  %wide.load139 = load <8 x i32>, ptr %165, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %166 = shl <8 x i32> %wide.load139, %broadcast.splat189
  %167 = lshr <8 x i32> %wide.load139, %broadcast.splat191
  %168 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %164
  %wide.load142 = load <8 x i32>, ptr %168, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %169 = or disjoint <8 x i32> %166, %167
  %170 = add <8 x i32> %wide.load142, %wide.load139
  %171 = xor <8 x i32> %169, %170
  %172 = shl <8 x i32> %171, %broadcast.splat193
  %173 = lshr <8 x i32> %171, %broadcast.splat195
  %174 = or disjoint <8 x i32> %172, %173
  %175 = add <8 x i32> %171, %170
  %176 = xor <8 x i32> %174, %175
  %177 = add <8 x i32> %176, %175
  %178 = shl <8 x i32> %177, splat (i32 1)
  %179 = add <8 x i32> %broadcast.splat136, %178
  %180 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %164
  store <8 x i32> %179, ptr %180, align 4, !alias.scope !16, !noalias !22
  %index.next143 = add nuw i64 %index138, 1
  %181 = icmp eq i64 %index.next143, 8
  br i1 %181, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body137, !llvm.loop !32

vector.ph145:                                     ; preds = %.split4.us.split.us.split.us.split.us.split
  %broadcast.splatinsert154 = insertelement <8 x i32> poison, i32 %24, i64 0
  %broadcast.splat155 = shufflevector <8 x i32> %broadcast.splatinsert154, <8 x i32> poison, <8 x i32> zeroinitializer
  %broadcast.splatinsert156 = insertelement <8 x i32> poison, i32 %27, i64 0
  %broadcast.splat157 = shufflevector <8 x i32> %broadcast.splatinsert156, <8 x i32> poison, <8 x i32> zeroinitializer
  br label %vector.body158

vector.body158:                                   ; preds = %vector.body158, %vector.ph145
  %index159 = phi i64 [ 0, %vector.ph145 ], [ %index.next164, %vector.body158 ]
  %182 = shl nuw nsw i64 %index159, 3
  %183 = getelementptr inbounds nuw [4 x i8], ptr %8, i64 %182
  %wide.load160 = load <8 x i32>, ptr %183, align 4, !invariant.load !3, !alias.scope !12, !noalias !20
  %184 = shl <8 x i32> %wide.load160, %broadcast.splat189
  %185 = lshr <8 x i32> %wide.load160, %broadcast.splat191
  %186 = getelementptr inbounds nuw [4 x i8], ptr %10, i64 %182
  %wide.load163 = load <8 x i32>, ptr %186, align 4, !invariant.load !3, !alias.scope !14, !noalias !21
  %187 = or disjoint <8 x i32> %184, %185
  %188 = add <8 x i32> %wide.load163, %wide.load160
  %189 = xor <8 x i32> %187, %188
  %190 = shl <8 x i32> %189, %broadcast.splat193
  %191 = lshr <8 x i32> %189, %broadcast.splat195
  %192 = or disjoint <8 x i32> %190, %191
  %193 = add <8 x i32> %189, %188
  %194 = xor <8 x i32> %192, %193
  %195 = lshr <8 x i32> %194, %broadcast.splat155
  %196 = add <8 x i32> %194, %193
  %197 = xor <8 x i32> %195, %196
  %198 = add <8 x i32> %196, %broadcast.splat157
  %199 = add <8 x i32> %198, %197
  %200 = getelementptr inbounds nuw [4 x i8], ptr %12, i64 %182
  store <8 x i32> %199, ptr %200, align 4, !alias.scope !16, !noalias !22
  %index.next164 = add nuw i64 %index159, 1
  %201 = icmp eq i64 %index.next164, 8
  br i1 %201, label %broadcast_add_fusion.1_wrapped.exit, label %vector.body158, !llvm.loop !33

broadcast_add_fusion.1_wrapped.exit:              ; preds = %vector.body, %vector.body77, %vector.body97, %vector.body118, %vector.body137, %vector.body158, %vector.body179, %vector.body202
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #1

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 2}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 4}
!5 = !{i64 16}
!6 = !{i64 256}
!7 = !{!8}
!8 = distinct !{!8, !9, !"broadcast_add_fusion.1_wrapped: argument 0"}
!9 = distinct !{!9, !"broadcast_add_fusion.1_wrapped"}
!10 = !{!11}
!11 = distinct !{!11, !9, !"broadcast_add_fusion.1_wrapped: argument 1"}
!12 = !{!13}
!13 = distinct !{!13, !9, !"broadcast_add_fusion.1_wrapped: argument 2"}
!14 = !{!15}
!15 = distinct !{!15, !9, !"broadcast_add_fusion.1_wrapped: argument 3"}
!16 = !{!17}
!17 = distinct !{!17, !9, !"broadcast_add_fusion.1_wrapped: argument 4"}
!18 = !{!8, !13, !15, !17}
!19 = !{!11, !13, !15, !17}
!20 = !{!8, !11, !15, !17}
!21 = !{!8, !11, !13, !17}
!22 = !{!8, !11, !13, !15}
!23 = distinct !{!23, !24, !25, !26}
!24 = !{!"llvm.loop.unroll.disable"}
!25 = !{!"llvm.loop.isvectorized", i32 1}
!26 = !{!"llvm.loop.unroll.runtime.disable"}
!27 = distinct !{!27, !24, !25, !26}
!28 = distinct !{!28, !24, !25, !26}
!29 = distinct !{!29, !24, !25, !26}
!30 = distinct !{!30, !24, !25, !26}
!31 = distinct !{!31, !24, !25, !26}
!32 = distinct !{!32, !24, !25, !26}
!33 = distinct !{!33, !24, !25, !26}
